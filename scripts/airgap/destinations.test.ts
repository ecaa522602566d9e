import { expect, it } from 'vitest';
import { readDestinations } from './destinations.ts';

it('reads where processes meant to go, and counts every question for a name as elsewhere', () => {
  const trace = `
23000 connect(21, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.255.255.53")}, 16) = -1 ENETUNREACH (Network is unreachable)
23000 connect(21, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.255.255.53")}, 16) = -1 ENETUNREACH (Network is unreachable)
23001 connect(22, {sa_family=AF_INET, sin_port=htons(8787), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress)
23002 sendto(23, "x", 1, MSG_NOSIGNAL, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 1
23003 connect(24, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2606:4700::1111", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH
23004 connect(25, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT
23005 sendto(26, "x", 1, MSG_NOSIGNAL, NULL, 0) = 1
23006 connect(27, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0
23007 sendmmsg(28, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("104.18.6.192")}, msg_namelen=16}}], 1, 0) = 1
`;
  expect(readDestinations(trace)).toEqual({
    calls: 7,
    outside: [
      { address: '10.255.255.53', port: 53, count: 2 },
      { address: '127.0.0.53', port: 53, count: 1 },
      { address: '2606:4700::1111', port: 443, count: 1 },
      { address: '104.18.6.192', port: 443, count: 1 },
    ],
  });
});
