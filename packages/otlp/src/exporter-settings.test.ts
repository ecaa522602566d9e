import { describe, expect, it } from 'vitest';
import { readPairs, readTarget } from './exporter-settings.ts';

const env = { OTEL_EXPORTER_OTLP_COMPRESSION: 'none', OTEL_EXPORTER_OTLP_TIMEOUT: 1000 } as const;
const target = (endpoint: string | undefined, headers?: string) =>
  readTarget(env, {
    endpoint: ['OTEL_ENDPOINT', endpoint],
    headers: ['OTEL_EXPORTER_OTLP_HEADERS', headers],
    protocol: 'http/json',
    path: '/v1/traces',
  });

describe('readTarget', () => {
  it.each([
    ['http://collector:4318', 'http://collector:4318', '/v1/traces'],
    ['https://c.example/otlp/', 'https://c.example', '/otlp/v1/traces'],
    ['https://c.example/otlp/v1/traces', 'https://c.example', '/otlp/v1/traces'],
  ])('appends the path to %s', (endpoint, origin, path) => {
    expect(target(endpoint)).toMatchObject({ origin, path });
  });

  it.each([
    [undefined, 'OTEL_ENDPOINT must say'],
    ['ftp://collector', 'OTEL_ENDPOINT must be an address'],
    ['http://user:secret@collector', 'without user'],
    ['http://collector/?key=secret', 'without user'],
  ])('refuses %s by name, and shows nothing of it', (endpoint, message) => {
    expect(() => target(endpoint)).toThrow(message);
    expect(() => target(endpoint)).not.toThrow('secret');
  });

  it.each(['no pair', 'x-key=a\nb', 'x key=a'])('refuses the headers %j', (headers) => {
    expect(() => target('http://collector', headers)).toThrow('OTEL_EXPORTER_OTLP_HEADERS');
  });
});

describe('readPairs', () => {
  it('reads lists of pairs, percent-encoded where need be', () => {
    expect(readPairs('NAME', 'a=1, b = x%3Dy%2Cz ,c=,d=100%')).toEqual({
      a: '1',
      b: 'x=y,z',
      c: '',
      d: '100%',
    });
  });
});
