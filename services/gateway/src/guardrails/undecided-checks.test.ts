import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hook } from '@sluice/engine';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asking, exampleCheck, exampleHook } from './example-hooks.ts';
import { Guardrails } from './guardrails.ts';

type Answer = (response: ServerResponse) => void;

const json = (status: number, body: string, headers = {}): Answer => {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};
const finds = json(200, '{"violations_detected":false}');
let answer: Answer = finds;
const partner = createServer((request, response) => {
  request.resume().on('end', () => answer(response));
});
await new Promise<void>((done) => partner.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
  connectionsMax: 10,
});
afterAll(async () => {
  await fetch.close();
  partner.close();
});

const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), debug: vi.fn() };
let guardrails: Guardrails;
beforeEach(() => {
  vi.clearAllMocks();
  answer = finds;
  guardrails = new Guardrails({ logger: logger as unknown as Logger, fetch });
});

const lasso = (apiEndpoint = url) =>
  exampleCheck('lasso.classify', { credentials: { apiKey: 'k', apiEndpoint } });

async function ask(times: number, given: Partial<Hook> = {}): Promise<void> {
  const { checks = [lasso()], ...hook } = given;
  const beforeRequest = [exampleHook({ id: 'pg-lasso', by: 'admin', ...hook, checks })];
  const hooks = { own: { beforeRequest, afterRequest: [] }, enforced: undefined };
  for (let asked = 0; asked < times; asked += 1) await guardrails.before(hooks, asking('Hello'));
}

const said = (line: typeof logger.warn): unknown[] =>
  line.mock.calls.map(([fields, text]) => [fields.hook_id, fields.check_id, fields.reason, text]);
const away = 'a check of a guardrail gets no answer that it can use: it cannot decide';

describe('a check whose host answers what it cannot use', () => {
  it.each<[string, Answer, reason: string]>([
    ['refuses it', json(401, '{}'), 'Lasso answered with the status 401.'],
    ['forbids it', json(403, '{}'), 'Lasso answered with the status 403.'],
    [
      'sends it elsewhere',
      json(302, '', { location: 'https://login.test/' }),
      'Lasso answered with the status 302.',
    ],
    ['shows a page', json(200, '<html>'), 'Lasso gave an answer that is no JSON.'],
    [
      'says something else',
      json(200, '{"ok":true}'),
      'Lasso gave no answer that can be read: violations_detected is not true or false.',
    ],
  ])(
    'is told of in the log once when it %s, and once that it decides again',
    async (_, given, reason) => {
      answer = given;
      await ask(4);
      expect(said(logger.warn)).toEqual([]);
      await ask(20);
      expect(said(logger.warn)).toEqual([['pg-lasso', 'lasso.classify', reason, away]]);
      answer = finds;
      await ask(2);
      expect(logger.info.mock.calls.map(([, text]) => text)).toEqual([
        'a check of a guardrail decides again',
      ]);
    },
  );

  it('is told of although another guardrail asks the same host, and is answered', async () => {
    let turn = 0;
    answer = (response) => (turn++ % 2 === 0 ? json(401, '{}') : finds)(response);
    for (let round = 0; round < 6; round += 1) {
      await ask(1);
      await ask(1, { id: 'pg-other' });
    }
    expect(said(logger.warn)).toHaveLength(1);
  });

  it('that callers write is one of its kind, whatever they call it', async () => {
    answer = json(401, '{}');
    for (let hook = 0; hook < 12; hook += 1) await ask(1, { id: `mine-${hook}`, by: 'caller' });
    expect(said(logger.warn)).toHaveLength(1);
  });

  it('is told of where its address may not be asked', async () => {
    await ask(6, { checks: [lasso('http://10.0.0.1/')] });
    expect(said(logger.warn)).toEqual([
      ['pg-lasso', 'lasso.classify', 'The host may not be asked: its address is refused.', away],
    ]);
  });

  it('is told of as a host that is away where it is', async () => {
    answer = json(503, '{}');
    await ask(20);
    expect(logger.warn.mock.calls.map(([, text]) => text)).toEqual([
      'a host that checks of guardrails ask is away: they cannot decide',
    ]);
  });
});
