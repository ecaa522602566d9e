/**
 * Why a host could not be asked, or did not end its answer. Records and logs
 * keep the name, callers read the words: these tell what kind of thing went
 * wrong and never which host, address or certificate it was. `docs/errors.md`
 * has a row for each, held to this table by a test.
 */
export const failureCauses = {
  dns: 'its name was not found',
  dns_unavailable: 'no name server answered for its name',
  refused: 'it refused the connection',
  no_route: 'there is no way to it from here',
  connect_timeout: 'no connection was made in time',
  busy: 'too many connections are being opened already',
  proxy_unreachable: 'the proxy on the way to it could not be reached',
  proxy_refused: 'the proxy on the way to it refused to connect',
  tls_expired: 'its certificate has expired or is not valid yet',
  tls_self_signed: 'its certificate is signed by itself',
  tls_wrong_host: 'its certificate is for another host',
  tls_untrusted: 'its certificate is signed by nobody who is trusted here',
  tls: 'no TLS connection could be agreed on',
  reset: 'it reset the connection',
  closed: 'it closed the connection',
  timeout: 'it did not answer in time',
  stalled: 'it stopped sending',
  invalid_response: 'it sent something that is not HTTP',
} as const;

export type FailureCause = keyof typeof failureCauses;
