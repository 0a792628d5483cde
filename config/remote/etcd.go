package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// etcd is a key of etcd, read by etcd's own client: Viper's takes no credentials, no
// certificates and no context, and keeps its connections for ever. It is used by one
// goroutine.
type etcd struct {
	source Source
	client *clientv3.Client // nil while there is none
}

// check finds what does not go together, so that nothing is left out without a word.
func (e *etcd) check() error {
	s := e.source
	if (s.Username == "") != (s.Password == "") {
		return errors.New("a username and a password go together")
	}
	for _, endpoint := range s.Endpoints {
		switch {
		case strings.Contains(endpoint, "@"):
			return errors.New("an endpoint holds credentials; they have fields of their own, Username and Password")
		case s.TLS != nil && strings.HasPrefix(endpoint, "http:"):
			return fmt.Errorf("endpoint %s would be spoken to without TLS; it has to begin with https", endpoint)
		}
	}
	return nil
}

func (e *etcd) read(ctx context.Context) ([]byte, error) {
	if e.client == nil {
		client, err := clientv3.New(clientv3.Config{
			Context: ctx, DialTimeout: patience,
			Endpoints: e.source.Endpoints, TLS: e.source.TLS,
			Username: e.source.Username, Password: string(e.source.Password),
			// What is wrong with the endpoints is to be said. The client would try them
			// until its time is up, and say that.
			MaxUnaryRetries: uint(len(e.source.Endpoints)),
			DialOptions:     []grpc.DialOption{grpc.WithChainUnaryInterceptor(failAtOnce)},
			Logger:          zap.NewNop(),
		})
		if err != nil {
			return nil, err
		}
		e.client = client
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := e.client.Get(asking, e.source.Key)
	switch {
	case err != nil:
		e.close() // the next one has a password looked at anew, and no dead connections
		return nil, err
	case len(answer.Kvs) == 0:
		return nil, errors.New("there is no such key")
	}
	return answer.Kvs[0].Value, nil
}

// failAtOnce makes a request of one that waits for an endpoint that can be reached.
func failAtOnce(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, request, answer, conn, append(opts, grpc.WaitForReady(false))...)
}

func (e *etcd) close() {
	if e.client != nil {
		_ = e.client.Close() // nothing is lost by it
		e.client = nil
	}
}
