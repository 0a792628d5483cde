package sharding_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/gormshard/sharding"

// arrow lists, for each package of this module, which others of the module it may
// import; "shardkernel/..." stands for all packages below, except those named
// with a minus sign. Stages see what comes before them in the way of a statement,
// never what comes after.
var arrow = map[string][]string{
	"internal/fault":    {},
	"internal/nearest":  {},
	"internal/inline":   {"internal/fault", "internal/nearest"},
	"internal/registry": {"internal/nearest"},
	"internal/model":    {},
	"hint":              {},

	"shardkernel/algorithm": {"internal/fault", "internal/nearest", "internal/inline", "internal/registry"},
	"shardkernel/keygen":    {"internal/fault", "internal/nearest", "internal/registry", "shardkernel/algorithm"},
	"readwrite":             {"internal/fault", "internal/registry"},
	"config": {
		"internal/fault", "internal/nearest", "internal/inline",
		"shardkernel/algorithm", "shardkernel/keygen",
	},

	"shardkernel/internal/plan":    {},
	"shardkernel/internal/dialect": {},
	"shardkernel/internal/memory":  {"internal/fault"},
	"shardkernel/internal/value":   {"internal/fault", "shardkernel/algorithm", "shardkernel/internal/dialect"},
	"shardkernel/internal/metadata": {
		"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/value",
	},
	"shardkernel/internal/rule": {
		"internal/fault", "internal/nearest", "internal/inline", "config",
		"shardkernel/algorithm", "shardkernel/keygen", "shardkernel/internal/value",
	},
	"shardkernel/internal/parse": {"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/plan"},
	"shardkernel/internal/route": {
		"internal/fault", "internal/model", "shardkernel/algorithm", "shardkernel/internal/dialect", "shardkernel/internal/parse",
		"shardkernel/internal/plan", "shardkernel/internal/rule", "shardkernel/internal/value",
	},
	"shardkernel/internal/rewrite": {
		"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/parse", "shardkernel/internal/plan",
		"shardkernel/internal/route", "shardkernel/internal/rule", "shardkernel/internal/value",
	},
	"shardkernel/internal/execute": {
		"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/memory", "shardkernel/internal/plan",
		"shardkernel/internal/value",
	},
	"shardkernel/internal/merge": {
		"internal/fault", "shardkernel/internal/memory", "shardkernel/internal/plan", "shardkernel/internal/value",
	},
	"shardkernel/internal/transaction": {
		"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/execute", "shardkernel/internal/plan",
	},
	"shardkernel/internal/broadcast": {"internal/fault", "shardkernel/internal/value"},
	"shardkernel/internal/session": {
		"internal/fault", "shardkernel/internal/dialect", "shardkernel/internal/execute", "shardkernel/internal/transaction",
	},

	"shardkernel":        {"internal/fault", "internal/model", "internal/nearest", "config", "shardkernel/...", "-shardkernel/driver"},
	"shardkernel/driver": {"internal/fault", "internal/model", "hint", "shardkernel"},
	"callbacks":          {"internal/fault", "internal/model", "shardkernel", "shardkernel/keygen"},
	".":                  {"..."},

	"shardkernel/algorithm/algorithmtest": {"shardkernel/algorithm"},
	"shardkernel/keygen/keygentest":       {"shardkernel/keygen"},
	"shardkernel/internal/execute/fakedb": {},
}

// testSupport are packages that only tests may import.
var testSupport = []string{
	"shardkernel/algorithm/algorithmtest",
	"shardkernel/keygen/keygentest",
	"shardkernel/internal/execute/fakedb",
}

// usesGORM are the packages that may import GORM. The kernel serves applications
// that do not link it.
var usesGORM = []string{".", "callbacks"}

func TestImportsFollowTheArrow(t *testing.T) {
	imports := packageImports(t)
	if len(imports) < 10 {
		t.Fatalf("found only %d packages, so this test proves nothing: %v", len(imports), imports)
	}
	for pkg, imported := range imports {
		if _, known := arrow[pkg]; !known {
			t.Errorf("package %s has no entry in arrow: give it one", pkg)
			continue
		}
		for file, paths := range imported {
			for _, importPath := range paths {
				if reason := arrowViolation(pkg, importPath); reason != "" {
					t.Errorf("%s imports %s: %s", file, importPath, reason)
				}
			}
		}
	}
}

func TestArrowRefusesImportsAgainstIt(t *testing.T) {
	for _, test := range []struct {
		pkg, imported string
		allowed       bool
	}{
		{"shardkernel/internal/route", modulePath + "/shardkernel/internal/parse", true},
		{"shardkernel/internal/route", modulePath + "/shardkernel/internal/rewrite", false},
		{"shardkernel/internal/merge", modulePath + "/shardkernel/internal/execute", false},
		{"shardkernel/internal/merge", modulePath, false},
		{"shardkernel/internal/merge", "gorm.io/gorm/clause", false},
		{"shardkernel", modulePath + "/shardkernel/internal/merge", true},
		{"shardkernel", modulePath + "/shardkernel/driver", false},
		{"shardkernel", modulePath + "/callbacks", false},
		{"callbacks", "gorm.io/gorm", true},
		{".", "gorm.io/driver/mysql", true},
		{".", modulePath + "/shardkernel/driver", true},
		{"internal/fault", "errors", true},
		{"internal/fault", modulePath + "-other/x", true},
		{".", modulePath + "/shardkernel/keygen/keygentest", false},
	} {
		if reason := arrowViolation(test.pkg, test.imported); (reason == "") != test.allowed {
			t.Errorf("%s imports %s: allowed should be %v, reason %q", test.pkg, test.imported, test.allowed, reason)
		}
	}
}

// docs/dependencies.md gives a reason for each module that the code imports.
func TestDependenciesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^(?:require)?\s+([\w.-]+\.[\w.-]+/\S+) (v\S+)$`)
	for _, file := range []string{"go.mod", "config/remote/go.mod", "metrics/go.mod", "tests/go.mod", "tests/plugins/go.mod", "examples/go.mod"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		required := direct.FindAllStringSubmatch(string(text), -1)
		if len(required) == 0 {
			t.Errorf("%s: no direct requirement found, so this test proves nothing", file)
		}
		for _, match := range required {
			module, version := match[1], match[2]
			if strings.HasPrefix(module, modulePath) {
				continue
			}
			if row := "| `" + module + "` | " + version + " |"; !strings.Contains(string(doc), row) {
				t.Errorf("%s requires %s %s: docs/dependencies.md has no row that begins %q", file, module, version, row)
			}
		}
	}
}

// arrowViolation says why pkg, a directory of this module, may not import
// importPath; "" when it may.
func arrowViolation(pkg, importPath string) string {
	if strings.HasPrefix(importPath, "gorm.io/") && !slices.Contains(usesGORM, pkg) {
		return "only " + strings.Join(usesGORM, " and ") + " may import GORM"
	}
	target := "."
	if importPath != modulePath {
		below, inModule := strings.CutPrefix(importPath, modulePath+"/")
		if !inModule {
			return ""
		}
		target = below
	}
	if slices.Contains(testSupport, target) && pkg != target {
		return "for tests only"
	}
	allowed := arrow[pkg]
	if slices.Contains(allowed, "-"+target) || !slices.ContainsFunc(allowed, func(pattern string) bool {
		prefix, wide := strings.CutSuffix(pattern, "...")
		return pattern == target || wide && strings.HasPrefix(target, prefix)
	}) {
		return "against the arrow; " + pkg + " may import " + strings.Join(allowed, ", ")
	}
	return ""
}

// packageImports reads the imports of this module's files without tests and
// nested modules: package directory, file, import paths.
func packageImports(t *testing.T) map[string]map[string][]string {
	t.Helper()
	imports := map[string]map[string][]string{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			_, statErr := os.Stat(filepath.Join(file, "go.mod"))
			if file != "." && (statErr == nil || name == "testdata" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		pkg := path.Dir(file)
		if imports[pkg] == nil {
			imports[pkg] = map[string][]string{}
		}
		imports[pkg][file] = nil
		for _, spec := range parsed.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg][file] = append(imports[pkg][file], importPath)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
