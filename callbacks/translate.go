package callbacks

import (
	"errors"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/internal/fault"
)

// translated are the errors of GORM that a dialector makes of the driver's.
var translated = []error{gorm.ErrDuplicatedKey, gorm.ErrForeignKeyViolated, gorm.ErrCheckConstraintViolated}

// translateError applies GORM's translation, where it is on, to the failures of
// a statement over several nodes. Dialectors assert the driver's error without
// unwrapping, so they do not see through the error that names the nodes.
func translateError(db *gorm.DB) {
	if db.Error == nil || !db.TranslateError {
		return
	}
	translator, ok := db.Dialector.(gorm.ErrorTranslator)
	if !ok {
		return
	}
	var nodes *fault.NodesError
	if !errors.As(db.Error, &nodes) {
		return
	}
	for _, node := range nodes.Nodes {
		meaning := translator.Translate(node.Err)
		for _, known := range translated {
			if errors.Is(meaning, known) && !errors.Is(db.Error, known) {
				db.Error = &translatedError{error: db.Error, meaning: known}
				return
			}
		}
	}
}

// translatedError says what the original error says, and matches GORM's too.
type translatedError struct {
	error
	meaning error
}

func (e *translatedError) Unwrap() []error { return []error{e.error, e.meaning} }
