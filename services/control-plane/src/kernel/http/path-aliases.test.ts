import express from 'express';
import supertest from 'supertest';
import { expect, it } from 'vitest';
import { followPathAliases } from './path-aliases.ts';

const app = express();
app.use(followPathAliases);
app.use((req, res) => void res.send(req.url));

it.each([
  ['/v1/log/exports', '/v1/logs/exports'],
  ['/v1/log/exports?page_size=1', '/v1/logs/exports?page_size=1'],
  ['/v1/log/exports/id/start', '/v1/logs/exports/id/start'],
  ['/v1/log/exportsx', '/v1/log/exportsx'],
  ['/v1/logs/exports', '/v1/logs/exports'],
  ['/x/v1/log/exports', '/x/v1/log/exports'],
  ['/v1/model-configs/pricing/openai/gpt-4o', '/model-configs/pricing/openai/gpt-4o'],
  ['/v1/v0.1/servers?limit=1', '/v0.1/servers?limit=1'],
  ['/v1/v0x1/servers', '/v1/v0x1/servers'],
  ['/v1/v0.1/x', '/v1/v0.1/x'],
])('%s is %s', async (sent, seen) => {
  expect((await supertest(app).get(sent)).text).toBe(seen);
});
