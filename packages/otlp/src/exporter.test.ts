import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { create } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '@sluice/proto-stubs/otlp';
import {
  eventually,
  freePort,
  type OtlpReceiver,
  startOtlpReceiver,
  testCertificate,
} from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { attributesOf } from './attributes.ts';
import { encodeExport, type OtlpProtocol } from './export-request.ts';
import { OtlpExporter, type OtlpTarget } from './exporter.ts';

let receiver: OtlpReceiver;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(() => receiver.fail(undefined));
afterAll(() => receiver.close());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

function exportOf(protocol: OtlpProtocol, name: string) {
  const span = {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(spanId, 'hex'),
    name,
    kind: 3,
    startTimeUnixNano: 1_700_000_000_000_000_001n,
    endTimeUnixNano: 1_700_000_000_250_000_000n,
    // No id of a span, whatever it is called.
    attributes: attributesOf({ traceId: 'aGVsbG8=', whole: 3, part: 0.5, yes: true, list: ['a'] }),
  };
  const request = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  return encodeExport(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, request),
    protocol,
  );
}

function exporterTo(over: Partial<OtlpTarget> = {}): OtlpExporter {
  return new OtlpExporter({
    origin: receiver.url,
    path: '/v1/traces',
    headers: { authorization: 'Bearer of-the-receiver' },
    protocol: 'http/json',
    isCompressed: false,
    timeoutMs: 5_000,
    tls: {},
    ...over,
  });
}

describe('OtlpExporter', () => {
  it.each([
    ['http/json', false],
    ['http/json', true],
    ['http/protobuf', false],
    ['http/protobuf', true],
  ] as const)(
    'is understood by the official definitions: %s, compressed %s',
    async (protocol, isCompressed) => {
      const exporter = exporterTo({ protocol, isCompressed });
      const name = `${protocol} ${isCompressed}`;
      expect(await exporter.send(exportOf(protocol, name))).toMatchObject({ outcome: 'taken' });
      expect(receiver.faults).toEqual([]);
      expect(receiver.spans.find((span) => span.name === name)).toMatchObject({
        traceId,
        spanId,
        kind: 3,
        attributes: { traceId: 'aGVsbG8=', whole: 3, part: 0.5, yes: true, list: ['a'] },
      });
      expect(receiver.requests.at(-1)?.headers).toMatchObject({
        authorization: 'Bearer of-the-receiver',
      });
      await exporter.close();
    },
  );

  it.each([429, 502, 503, 504])(
    'tries again after a %i, when the receiver says',
    async (status) => {
      receiver.fail({ status, headers: { 'retry-after': '0' } });
      const exporter = exporterTo();
      const before = receiver.requests.length;
      const sending = exporter.send(exportOf('http/json', `after ${status}`));
      await eventually(() => expect(receiver.requests.length).toBeGreaterThan(before + 1));
      expect(exporter.isAway).toBe(true);
      receiver.fail(undefined);
      expect(await sending).toMatchObject({ outcome: 'taken' });
      await exporter.close();
    },
  );

  it.each([400, 401, 404, 413, 500, 307])('takes a %i for the last word', async (status) => {
    const elsewhere: string[] = [];
    const other = createServer((incoming, response) => {
      elsewhere.push(String(incoming.headers.authorization));
      response.end('{}');
    });
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready));
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1/traces`;
    receiver.fail({ status, headers: { location } });
    const exporter = exporterTo();
    const before = receiver.requests.length;
    expect(await exporter.send(exportOf('http/json', 'refused'))).toEqual({
      outcome: 'refused',
      // Of these it may take what comes after.
      isOfAll: ![400, 413, 500].includes(status),
      reason: `it answers ${status}`,
    });
    expect(receiver.requests.length).toBe(before + 1);
    expect(elsewhere).toEqual([]);
    await exporter.close();
    other.close();
  });

  it('takes a page for no receiver, whatever its status', async () => {
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    receiver.fail({ status: 200, headers, body: '<html>Sign in</html>' });
    const exporter = exporterTo();
    expect(await exporter.send(exportOf('http/json', 'to a page'))).toEqual({
      outcome: 'refused',
      isOfAll: true,
      reason: 'it answers 200 and a page of HTML',
    });
    receiver.fail({ status: 200, headers, body: '' });
    expect(await exporter.send(exportOf('http/json', 'to one that says nothing'))).toMatchObject({
      outcome: 'taken',
    });
    await exporter.close();
  });

  it('trusts the authority that it was told, and shows its own certificate', async () => {
    const peers: boolean[] = [];
    const secure = createSecureServer(
      {
        key: testCertificate('server-key'),
        cert: testCertificate('server'),
        ca: testCertificate('authority'),
        requestCert: true,
        rejectUnauthorized: false,
      },
      (incoming, response) => {
        peers.push((incoming.socket as TLSSocket).authorized);
        incoming.resume();
        response.end('{}');
      },
    );
    await new Promise<void>((ready) => secure.listen(0, '127.0.0.1', ready));
    const origin = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const own = { cert: testCertificate('client'), key: testCertificate('client-key') };
    for (const [tls, outcome] of [
      [{ ca: testCertificate('authority'), ...own }, 'taken'],
      [own, 'given-up'],
    ] as const) {
      const exporter = exporterTo({ origin, tls });
      exporter.stopRetrying();
      expect(await exporter.send(exportOf('http/json', 'by TLS'))).toMatchObject({ outcome });
      await exporter.close();
    }
    expect(peers).toEqual([true]);
    secure.close();
  });

  it('gives up what it was told to stop trying, whether the receiver hangs or is not there', async () => {
    receiver.fail('hang');
    for (const [over, reason] of [
      [{ timeoutMs: 100 }, /^it does not answer in time$/],
      [{ origin: `http://127.0.0.1:${await freePort()}` }, /^connect ECONNREFUSED/],
    ] as const) {
      const exporter = exporterTo(over);
      exporter.stopRetrying();
      expect(await exporter.send(exportOf('http/json', 'given up'))).toEqual({
        outcome: 'given-up',
        reason: expect.stringMatching(reason),
      });
      expect(exporter.isAway).toBe(true);
      await exporter.close();
    }
  });
});
