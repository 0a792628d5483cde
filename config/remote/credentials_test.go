package remote_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/config/remote"
)

// authenticate switches authentication on: user app may read the key and no other.
func (e *etcd) authenticate(password string) {
	e.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{e.client}, DialTimeout: 5 * time.Second})
	if err != nil {
		e.t.Fatal(err)
	}
	defer client.Close()
	ctx := e.t.Context()
	for _, step := range []func() error{
		func() error { _, err := client.UserAdd(ctx, "root", "r00t"); return err },
		func() error { _, err := client.RoleAdd(ctx, "root"); return err },
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.UserAdd(ctx, "app", password); return err },
		func() error { _, err := client.RoleAdd(ctx, "reader"); return err },
		func() error {
			_, err := client.RoleGrantPermission(ctx, "reader", key, "", clientv3.PermissionType(clientv3.PermRead))
			return err
		},
		func() error { _, err := client.UserGrantRole(ctx, "app", "reader"); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	} {
		if err := step(); err != nil {
			e.t.Fatal(err)
		}
	}
}

// asRoot does something by etcd's client once authentication is on.
func (e *etcd) asRoot(do func(ctx context.Context, client *clientv3.Client) error) {
	e.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{e.client}, Username: "root", Password: "r00t", DialTimeout: 5 * time.Second})
	if err != nil {
		e.t.Fatal(err)
	}
	defer client.Close()
	if err := do(e.t.Context(), client); err != nil {
		e.t.Fatal(err)
	}
}

func TestEtcdIsReadWithCredentials(t *testing.T) {
	e := startEtcd(t)
	e.put(version(1))
	e.authenticate("s3cret")
	source := e.source()
	fails := func(what string, s remote.Source) {
		t.Helper()
		if _, err := remote.Load(t.Context(), s); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "etcd3 "+s.Key) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fails("without credentials", source)
	source.Username, source.Password = "app", "s3cret, and wrong"
	fails("with a wrong password", source)
	source.Password = "s3cret"
	if cfg, err := remote.Load(t.Context(), source); err != nil || cfg.RulesVersion != 1 {
		t.Fatalf("%+v, %v", cfg, err)
	}
	other := source
	other.Key = "/services/others"
	fails("a key that the user may not read", other)

	var last atomic.Pointer[config.Event]
	w, err := remote.Watch(t.Context(), source, func(found config.Event) { last.Store(&found) })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	becomes := func(n int) {
		t.Helper()
		within(t, 20*time.Second, fmt.Sprintf("version %d", n), func() bool {
			found := last.Load()
			return found != nil && found.Err == nil && found.Config.RulesVersion == n
		})
	}
	becomes(1)
	put := func(n int) {
		t.Helper()
		e.asRoot(func(ctx context.Context, client *clientv3.Client) error {
			_, err := client.Put(ctx, key, version(n))
			return err
		})
	}
	put(2)
	becomes(2)
	e.asRoot(func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.UserChangePassword(ctx, "app", "other")
		return err
	})
	within(t, 20*time.Second, "the user whose password was changed to be refused", func() bool {
		found := last.Load()
		return found.Err != nil && !strings.Contains(found.Err.Error(), "s3cret")
	})
	e.asRoot(func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.UserChangePassword(ctx, "app", "s3cret")
		return err
	})
	put(3)
	becomes(3)
	e.kill()
	within(t, 20*time.Second, "etcd to be away", func() bool { return last.Load().Err != nil })
	e.restart()
	becomes(3)
	put(4)
	becomes(4)
}

// authority makes certificates that it has signed.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes name.pem and name.key.
func (a *authority) issue(name string, of *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	of.SerialNumber, of.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = of, key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(a.file(file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func TestEtcdIsReadByTLSWithCertificates(t *testing.T) {
	a := newAuthority(t)
	for _, name := range []string{"server", "client"} {
		a.issue(name, &x509.Certificate{
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		})
	}
	certificate, err := tls.LoadX509KeyPair(a.file("client.pem"), a.file("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	e := newEtcd(t)
	e.client = strings.Replace(e.client, "http:", "https:", 1)
	e.tls = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}}
	e.args = []string{"--cert-file", a.file("server.pem"), "--key-file", a.file("server.key"), "--trusted-ca-file", a.file("ca.pem"), "--client-cert-auth"}
	e.start()
	e.put(version(1))
	source := e.source()
	source.TLS = e.tls
	if cfg, err := remote.Load(t.Context(), source); err != nil || cfg.RulesVersion != 1 {
		t.Fatalf("%+v, %v", cfg, err)
	}
	for what, as := range map[string]*tls.Config{
		"without a certificate":         {RootCAs: roots},
		"with the roots of the system":  {Certificates: e.tls.Certificates},
		"with nothing but the endpoint": nil,
		"under another name":            e.tls,
	} {
		source.TLS, source.Endpoints = as, []string{e.client}
		if what == "under another name" {
			source.Endpoints = []string{strings.Replace(e.client, "127.0.0.1", "localhost", 1)}
		}
		if cfg, err := remote.Load(t.Context(), source); err == nil {
			t.Errorf("%s etcd was read: %+v", what, cfg)
		} else if what != "without a certificate" && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s the error gives no reason: %v", what, err)
		}
	}
}

func TestCredentialsAreShownNowhere(t *testing.T) {
	source := remote.Source{Endpoints: []string{"https://127.0.0.1:1"}, Key: key, Username: "app", Password: "s3cret"}
	asJSON, err := json.Marshal(source)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "source", source, "password", source.Password)
	for _, shown := range []string{fmt.Sprint(source), fmt.Sprintf("%+v %#v %q", source, source, source.Password), fmt.Sprintf("%v %x", &source, source.Password), string(asJSON), logged.String()} {
		if strings.Contains(shown, "s3cret") || strings.Contains(shown, fmt.Sprintf("%x", "s3cret")) {
			t.Error(shown)
		}
	}
}

func TestCredentialsThatWouldBeIgnoredAreErrors(t *testing.T) {
	for want, s := range map[string]remote.Source{
		"a username and a password go together": {Username: "app"},
		"they have fields of their own":         {Endpoints: []string{"http://app:s3cret@127.0.0.1:1"}},
		"without TLS":                           {TLS: &tls.Config{}},
		"no credentials":                        {Provider: "consul", Username: "app", Password: "s3cret"},
		"and certificates are taken":            {Provider: "nats", TLS: &tls.Config{}},
	} {
		s.Key = key
		if s.Endpoints == nil {
			s.Endpoints = []string{"http://127.0.0.1:1"}
		}
		if _, err := remote.Load(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLoadIsGivenUpWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := silent.Accept()
		if err == nil {
			defer conn.Close()
		}
		cancel()
		<-t.Context().Done()
	}()
	if _, err := remote.Load(ctx, remote.Source{Endpoints: []string{"http://" + silent.Addr().String()}, Key: key}); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}
