import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, type Issuer, json, startIssuer } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from '../scenario.ts';

/** What the issuer takes for an answer. */
const answerMs = 200;

let scenario: Scenario;
let issuer: Issuer;
let asked = 0;
beforeAll(async () => {
  [scenario, issuer] = await Promise.all([
    startScenario({
      environment: { gateway: { JWT_ENABLED: 'on' }, 'control-plane': { JWT_ENABLED: 'on' } },
    }),
    startIssuer(),
  ]);
  scenario.upstream.handle(json(200, chatReply));
  issuer.answer = async (req, res) => {
    asked += 1;
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += piece;
    await pause(answerMs);
    const known = issuer.active.get(new URLSearchParams(body).get('token') ?? '');
    res.end(JSON.stringify(known === undefined ? { active: false } : { active: true, ...known }));
  };
  await scenario.admin('PUT', '/admin/organisation/auth-settings', {
    jwt: { introspection: { url: issuer.introspectionUrl } },
  });
  await eventually(async () => {
    const status = await statusOf(await valid('early'), '127.0.0.2');
    if (status !== 200) throw new Error(`still ${status}`);
  });
});
afterAll(async () => {
  await scenario?.stop();
  await issuer?.close();
});

const claims = (sub: string) => ({
  service_oid: scenario.stack.credentials.organisation_id,
  service_workspace: scenario.stack.credentials.workspace_slug,
  scope: 'completions.write',
  sub,
});
/** New to the gateway, and active. */
async function valid(sub: string): Promise<string> {
  const token = await issuer.sign(claims(sub));
  issuer.active.set(token, {});
  return token;
}
/** In its form right, of a known organisation, and nobody's. */
async function garbage(count: number, over: object = {}): Promise<string[]> {
  const [header, payload] = (await issuer.sign({ ...claims('mallory'), ...over })).split('.');
  return Array.from(
    { length: count },
    (_, index) =>
      `${header}.${payload}.${Buffer.from(`garbage ${index} ${Math.random()}`).toString('base64url')}`,
  );
}

const agents = new Map<string, Agent>();
function statusOf(token: string, from: string): Promise<number> {
  const agent = agents.get(from) ?? new Agent({ localAddress: from, keepAlive: true });
  agents.set(from, agent);
  const body = JSON.stringify(chatBody);
  return new Promise((resolve, reject) => {
    const call = request(
      `${scenario.stack.gatewayUrls[0]}/v1/chat/completions`,
      {
        agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': String(body.length),
          'x-service-api-key': token,
          'x-service-provider': 'openai',
          'x-service-custom-host': `${scenario.upstream.url}/v1`,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

describe('tokens that an issuer is asked about', () => {
  it('and that are good get in at once, while garbage of the same organisation comes in floods', async () => {
    const flood = (await garbage(400)).map((token) => statusOf(token, '127.0.0.1'));
    await pause(50);
    const waits: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const token = await valid(`alice-${index}`);
      const startedAt = performance.now();
      expect(await statusOf(token, '127.0.0.2')).toBe(200);
      waits.push(performance.now() - startedAt);
    }
    const [, , middle] = waits.toSorted((one, other) => one - other);
    expect(middle).toBeLessThan(answerMs * 4);
    // Behind the flood it would be some five seconds; the machine itself may hold one up for one.
    expect(Math.max(...waits)).toBeLessThan(answerMs * 12);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401, 503]));
  });

  it('and that have ended by their own word are not asked about', async () => {
    const before = asked;
    const now = Math.floor(Date.now() / 1000);
    for (const over of [{ exp: now - 60 }, { nbf: now + 60 }, { iat: now + 60 }])
      for (const token of await garbage(5, over))
        expect(await statusOf(token, '127.0.0.1')).toBe(401);
    expect(asked).toBe(before);
  });

  it('are asked about once by all who bring one at the same time', async () => {
    const token = await valid('bob');
    const before = asked;
    const statuses = await Promise.all(
      Array.from({ length: 30 }, () => statusOf(token, '127.0.0.1')),
    );
    expect([new Set(statuses), asked - before]).toEqual([new Set([200]), 1]);
  });
});
