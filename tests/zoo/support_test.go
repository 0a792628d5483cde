//go:build unix

package zoo_test

// answers are what became of the features, for docs/gorm-support.md.
type answers map[string]map[placement]error

// cells are the answers of this run.
var cells = answers{}

func (a answers) set(w *way, feature string, refusal error) {
	if w.variant != &usual {
		return
	}
	if a[feature] == nil {
		a[feature] = map[placement]error{}
	}
	a[feature][w.placement] = refusal
}
