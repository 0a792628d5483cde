//go:build unix

package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// place is where a statement found its rows.
type place uint8

const (
	onOneNode place = iota // also those of the larger topologies that one node answers
	scattered              // over several data sources
	together               // over several nodes of one data source
	places
)

var placeNames = [places]string{"one node", "several data sources", "several nodes of one data source"}

// profile is the manner in which a statement is written.
type profile uint8

const (
	wild profile = iota
	typical
	profiles
)

var profileNames = [profiles]string{"wild", "typical"}

// verdict is what became of a statement.
type verdict uint8

const (
	answered verdict = iota // alike
	failed                  // on both sides
	refusedHere
	wrong
	knownWrong
	verdicts
)

var verdictNames = [verdicts]string{"answered alike", "failed alike", "refused", "wrong", "known to be wrong"}

type counts [verdicts]int

// share is how much of what the unsharded database answers is answered, in
// thousandths, rounded down.
func (c *counts) share() (thousandths int, any bool) {
	all := c.asked()
	if all == 0 {
		return 0, false
	}
	return c[answered] * 1000 / all, true
}

func (c *counts) asked() int { return c[answered] + c[refusedHere] + c[wrong] + c[knownWrong] }

func (c *counts) percent() string {
	n, ok := c.share()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// bars are the parts, in thousandths, that have to be answered of the wild and of the
// typical statements whose hardest feature is the one named, over several data sources.
var bars = map[feature][profiles]int{
	featOrder: {980, 995}, featPage: {980, 995}, featBroadcast: {980, 995}, featBound: {980, 995}, featGroup: {980, 995}, featDistinct: {980, 995},
	featHaving: {980, 995}, featDerived: {950, 995}, featCTE: {950, 995}, featUnion: {950, 995}, featSubquery: {930, 990},
}

// barsOfAll are those of all statements.
var barsOfAll = map[place][profiles]int{onOneNode: {1000, 1000}, scattered: {970, 995}, together: {975, 995}}

// atOnce is how often a statement is counted at most: in every protocol of every
// topology.
var atOnce = len(protocols) * len(topologies)

// judged reports whether so many statements were counted that the bar tells
// something: a wild one that is refused everywhere must not miss it by itself.
func (c *counts) judged(p profile, bar int) bool {
	if p == typical || bar == 1000 {
		return c.asked() >= atOnce
	}
	return c.asked()*(1000-bar) >= 1000*atOnce
}

// report counts statements by what they hold and where they went.
type report struct {
	mu      sync.Mutex
	all     [places][profiles]counts
	has     [places][features]counts
	hardest [places][profiles][features]counts
	kinds   [places]map[string]*counts
	reasons map[string]*reason
	notes   map[string]int
	doubts  []uint64 // seeds of statements to which the server has two answers
}

// reason is why statements were refused.
type reason struct {
	at      [places]int
	example string
}

func newReport() *report {
	r := &report{reasons: map[string]*reason{}, notes: map[string]int{}}
	for i := range r.kinds {
		r.kinds[i] = map[string]*counts{}
	}
	return r
}

func (r *report) count(p profile, at place, l *labels, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[at][p][v]++
	r.hardest[at][p][l.hardest()][v]++
	for i, has := range l.has {
		if has {
			r.has[at][i][v]++
		}
	}
	for _, k := range l.kinds {
		if r.kinds[at][k] == nil {
			r.kinds[at][k] = &counts{}
		}
		r.kinds[at][k][v]++
	}
}

// refuse notes why a statement was refused; the shortest example is kept.
func (r *report) refuse(at place, why, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.reasons[why]
	if known == nil {
		known = &reason{example: text}
		r.reasons[why] = known
	}
	known.at[at]++
	if len(text) < len(known.example) {
		known.example = text
	}
}

// doubt notes a statement to which the server itself has two answers.
func (r *report) doubt(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.doubts, seed) {
		r.doubts = append(r.doubts, seed)
	}
}

func (r *report) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes[what]++
}

func (r *report) String() string {
	var b strings.Builder
	var sum counts
	for at := range places {
		for p := range profiles {
			for v := range verdicts {
				sum[v] += r.all[at][p][v]
			}
		}
	}
	for v := range verdicts {
		fmt.Fprintf(&b, "%d %s, ", sum[v], verdictNames[v])
	}
	b.WriteString("each statement once per topology and protocol\n")
	b.WriteString("A statement counts in every row that it has a feature of, and as \"hardest\" in the row of its hardest feature alone:\n" +
		"the rows go from easy to hard, and the bars are those of the hardest. % is answered of what the unsharded database answers.\n")
	for at := range places {
		r.table(&b, at)
	}
	r.refusals(&b)
	return b.String()
}

func (r *report) table(b *strings.Builder, at place) {
	fmt.Fprintf(b, "\n%-36s%8s%10s%9s%7s%8s    hardest:%8s%8s%9s%8s\n", strings.ToUpper(placeNames[at]), "run", "answered", "refused", "wrong", "%", "wild", "%", "typical", "%")
	line := func(name string, c *counts, of *[profiles]counts, bar [profiles]int) {
		if c.asked() == 0 {
			return
		}
		fmt.Fprintf(b, "%-36s%8d%10d%9d%7d%8s", name, c.asked(), c[answered], c[refusedHere], c[wrong]+c[knownWrong], c.percent())
		if of == nil {
			b.WriteString("\n")
			return
		}
		fmt.Fprintf(b, "%20d%8s%9d%8s", of[wild].asked(), of[wild].percent(), of[typical].asked(), of[typical].percent())
		for p := range profiles {
			if bar[p] > 0 {
				fmt.Fprintf(b, "  %s bar %d.%d: %s", profileNames[p], bar[p]/10, bar[p]%10, of[p].against(p, bar[p]))
			}
		}
		b.WriteString("\n")
	}
	var everything counts
	for p := range profiles {
		for v := range verdicts {
			everything[v] += r.all[at][p][v]
		}
	}
	line("everything", &everything, &r.all[at], barsOfAll[at])
	for i := range features {
		of := [profiles]counts{r.hardest[at][wild][i], r.hardest[at][typical][i]}
		bar := bars[i]
		if at != scattered {
			bar = [profiles]int{}
		}
		line(featureNames[i], &r.has[at][i], &of, bar)
		for _, kind := range kindNames {
			if strings.HasPrefix(kind, featureNames[i]+":") && r.kinds[at][kind] != nil {
				_, short, _ := strings.Cut(kind, ": ")
				line("    "+short, r.kinds[at][kind], nil, [profiles]int{})
			}
		}
	}
	if outer := r.kinds[at]["join: outer"]; outer != nil {
		line("outer joins of any kind", outer, nil, [profiles]int{})
	}
}

// against says how the part that is answered compares with a bar.
func (c *counts) against(p profile, bar int) string {
	switch n, any := c.share(); {
	case !any:
		return "none"
	case n >= bar:
		return "met"
	case !c.judged(p, bar):
		return "not met by too few to judge"
	}
	return "NOT MET"
}

// missed returns the bars that are not met.
func (r *report) missed() (missed []string) {
	check := func(what string, of *[profiles]counts, bar [profiles]int) {
		for p := range profiles {
			if n, any := of[p].share(); any && n < bar[p] && of[p].judged(p, bar[p]) {
				missed = append(missed, fmt.Sprintf("%s, %s: %s %% of %d are answered, %d.%d have to be", what, profileNames[p], of[p].percent(), of[p].asked(), bar[p]/10, bar[p]%10))
			}
		}
	}
	for at := range places {
		check(placeNames[at], &r.all[at], barsOfAll[at])
	}
	for feature, bar := range bars {
		of := [profiles]counts{r.hardest[scattered][wild][feature], r.hardest[scattered][typical][feature]}
		check(featureNames[feature], &of, bar)
	}
	slices.Sort(missed)
	return missed
}

func (r *report) refusals(b *strings.Builder) {
	sum := func(why string) (n int) {
		for _, count := range r.reasons[why].at {
			n += count
		}
		return n
	}
	sorted := slices.SortedFunc(maps.Keys(r.reasons), func(a, b string) int {
		if d := sum(b) - sum(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	fmt.Fprintf(b, "\nREFUSED, by reason: all = one node + several data sources + one data source\n")
	for _, why := range sorted[:min(len(sorted), 80)] {
		at := r.reasons[why].at
		fmt.Fprintf(b, "%6d = %d + %d + %d  %s\n        %s\n", sum(why), at[onOneNode], at[scattered], at[together], why, shortened(r.reasons[why].example))
	}
	if len(sorted) > 80 {
		fmt.Fprintf(b, "and %d reasons more\n", len(sorted)-80)
	}
	if len(r.doubts) > 0 {
		fmt.Fprintf(b, "The server has two answers to the statements of %d seeds: %v\n", len(r.doubts), r.doubts[:min(len(r.doubts), 40)])
	}
	for _, note := range slices.Sorted(maps.Keys(r.notes)) {
		fmt.Fprintf(b, "%6d  (%s)\n", r.notes[note], note)
	}
}

func shortened(text string) string {
	if text = strings.Join(strings.Fields(text), " "); len(text) > 400 {
		text = text[:400] + " …"
	}
	return text
}
