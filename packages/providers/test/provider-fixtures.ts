import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import type { JsonObject } from '../src/contract.ts';

const folder = join(import.meta.dirname, '../fixtures');

/** What is written down of one provider: how it is called, by hand, from its documentation. */
export interface ProviderFixture {
  apiKey: string;
  /** Of the plain request; `model-1` when absent. */
  model?: string;
  /** Of the plain request, by their neutral names. */
  settings?: Record<string, string>;
  /** A chat completion, as plain as it can be. */
  request?: { url: string; headers: Record<string, string> };
  /** What else is worth telling: other endpoints, settings, edited bodies, refusals. */
  calls?: ProviderCall[];
}

export interface ProviderCall {
  endpoint: Endpoint;
  /** `model-1` when absent. */
  model?: string;
  configurations?: JsonObject;
  callerHeaders?: Record<string, string>;
  /** The caller's body, in the format of the endpoint. */
  body?: JsonObject;
  /** What a pass-through call asks for. */
  proxyPath?: string;
  expect: {
    /** Code of the error that naming the address or preparing the call ends in. */
    error?: string;
    url?: string;
    method?: string;
    headers?: Record<string, string>;
    auth?: JsonObject;
    /** As sent upstream; absent while the call has a body = the body goes unchanged. */
    body?: JsonObject;
    dropped?: string[];
  };
}

export function hasProviderFixture(id: string): boolean {
  return existsSync(join(folder, `${id}.json`));
}

export function providerFixture(id: string): ProviderFixture {
  return JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));
}
