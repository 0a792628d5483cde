package sharding

import (
	"context"
	"errors"
	"sync"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/readwrite"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// Option changes how Register and Connector build the kernel.
type Option func(*options)

type options struct {
	dialectors map[string]func(dsn string) gorm.Dialector
	algorithms map[string]algorithm.Factory
	generators map[string]keygen.Factory
	balancers  map[string]readwrite.Factory
	trace      shardkernel.Tracer

	// types returns the registries with the types of the application, the same ones
	// for all configurations.
	types func() (types, error)
}

// types are the algorithms and key generators that a configuration may name.
type types struct {
	algorithms *algorithm.Registry
	generators *keygen.Registry
}

// UnitTrace reports one unit: a statement sent to one data source. It carries no
// argument values.
type UnitTrace = shardkernel.UnitTrace

// WithDialector adds a driver: the value of a data source's driver in the
// configuration, and how to make GORM's dialector of its DSN. The dialector must
// not dial before its first use. "mysql" is built in and serves MySQL and
// MariaDB. The dialector's Name must be mysql or sqlite.
func WithDialector(driver string, open func(dsn string) gorm.Dialector) Option {
	return func(o *options) { o.dialectors[driver] = open }
}

// WithAlgorithm adds a sharding algorithm under a type name for use in the
// configuration. Names are compared without regard to case; a name that is
// taken is a configuration error.
func WithAlgorithm(typeName string, factory algorithm.Factory) Option {
	return func(o *options) { o.algorithms[typeName] = factory }
}

// WithKeyGenerator adds a key generator under a type name for use in the
// configuration. Names are compared without regard to case; a name that is
// taken is a configuration error.
func WithKeyGenerator(typeName string, factory keygen.Factory) Option {
	return func(o *options) { o.generators[typeName] = factory }
}

// WithLoadBalancer adds a load balancer under a type name for use in groups of a
// primary and replicas; the factory is called once for each group. Names are
// compared without regard to case; a name that is taken is a configuration error.
func WithLoadBalancer(typeName string, factory readwrite.Factory) Option {
	return func(o *options) { o.balancers[typeName] = factory }
}

// WithUnitTrace calls trace after every unit that was sent to a data source: after
// a write, or when the rows of a read have ended. It must be quick and safe for
// concurrent use.
func WithUnitTrace(trace func(context.Context, UnitTrace)) Option {
	return func(o *options) { o.trace = trace }
}

func newOptions(opts []Option) *options {
	o := &options{
		dialectors: map[string]func(string) gorm.Dialector{"mysql": openMySQL},
		algorithms: map[string]algorithm.Factory{},
		generators: map[string]keygen.Factory{},
		balancers:  map[string]readwrite.Factory{},
	}
	for _, opt := range opts {
		opt(o)
	}
	o.types = sync.OnceValues(o.register)
	return o
}

// register returns the built-in types and those of the application.
func (o *options) register() (types, error) {
	all := types{algorithm.NewRegistry(), keygen.NewRegistry()}
	var errs []error
	for name, factory := range o.algorithms {
		errs = append(errs, all.algorithms.Register(name, factory))
	}
	for name, factory := range o.generators {
		errs = append(errs, all.generators.Register(name, factory))
	}
	if err := errors.Join(errs...); err != nil {
		return types{}, &fault.ConfigError{Path: "options", Err: err}
	}
	return all, nil
}

func openMySQL(dsn string) gorm.Dialector {
	return mysql.New(mysql.Config{DSN: dsn, SkipInitializeWithVersion: true})
}

// loadBalancers returns the built-in types and those of the application.
func (o *options) loadBalancers() (*readwrite.Registry, error) {
	registry := readwrite.NewRegistry()
	for name, factory := range o.balancers {
		var of func(struct{}) (readwrite.Balancer, error)
		if factory != nil {
			of = func(struct{}) (readwrite.Balancer, error) { return factory() }
		}
		if err := registry.Register(name, of); err != nil {
			return nil, &fault.ConfigError{Path: "options", Err: err}
		}
	}
	return registry, nil
}
