import { type HeaderSpelling, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { type Exchange, type ModelExchange, openExchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import { type ModelCall, modelCall } from '../exchange/subject.ts';
import { answerExplained, type WhoExplains } from '../pipeline/explain/answer-explained.ts';
import { estimateIn } from '../pipeline/explain/estimate-in.ts';
import { type ExplainDeps, explain } from '../pipeline/explain/explain.ts';
import type { Explanation } from '../pipeline/explain/explanation.ts';
import { tokensIn } from '../pipeline/explain/tokens-in.ts';
import { pathnameOf, unifiedEndpoints } from './unified-endpoints.ts';

/**
 * `POST /v1/explain`: body and headers of a request, and which endpoint it is
 * for. The key is checked as for the request itself; a refusal that the request
 * would meet later is part of the answer, not an error of this one.
 */
export function createExplain(deps: DecisionDeps) {
  return decision('/v1/explain', deps, (explanation) => explanation);
}

/** `POST /v1/estimate`: of the same, what the request is likely to use, and which limits would refuse it. */
export function createEstimate(deps: DecisionDeps) {
  return decision('/v1/estimate', deps, estimateIn);
}

/** `POST /v1/gateway/tokenize`: of the same, how many tokens it would send. */
export function createTokenize(deps: DecisionDeps) {
  return decision('/v1/gateway/tokenize', deps, tokensIn);
}

export interface DecisionDeps extends ExplainDeps, WhoExplains {}

function decision(path: string, deps: DecisionDeps, shown: (explanation: Explanation) => object) {
  return (exchange: Exchange, spelling: HeaderSpelling): Promise<Reply> =>
    answerExplained(exchange, deps, async () =>
      shown(await explain(aboutTheSame(exchange, path), spelling, deps)),
    );
}

/** The request that is asked about: the same arrival and who asks, and none of this one's state. */
function aboutTheSame({ arrival, key, bundle, metadata }: Exchange, path: string): ModelExchange {
  const asked = openExchange(arrival, askedCall(arrival, path));
  asked.key = key;
  asked.bundle = bundle;
  asked.metadata = metadata;
  return asked;
}

/**
 * From the path, else the query, else the header; chat completions otherwise.
 * @throws GatewayError `request.invalid_field` naming where it was said
 */
function askedCall({ pathname, search, headers }: ArrivedRequest, path: string): ModelCall {
  const inPath = pathname.slice(path.length).replace(/^\/|\/$/g, '');
  const inQuery = new URLSearchParams(search).get('endpoint');
  const inHeader = headers['x-service-explain-endpoint'];
  const [field, asked] =
    inPath !== ''
      ? ['path', inPath]
      : inQuery !== null
        ? ['query.endpoint', inQuery]
        : ['x-service-explain-endpoint', typeof inHeader === 'string' ? inHeader : undefined];
  const found = asked === undefined ? operations.chatComplete : find(asked);
  if (found === undefined)
    throw new GatewayError('request.invalid_field', {
      field,
      message: `Requests to "${asked?.slice(0, 80)}" cannot be explained; ${known} can.`,
    });
  return modelCall(found, pathnameOf(found), '');
}

/** By id, or by path with or without `/v1`. */
function find(asked: string) {
  const path = `/${asked.replace(/^\//, '').replace(/^v1\//, '')}`;
  return unifiedEndpoints.find(
    (endpoint) => endpoint.id === asked || pathnameOf(endpoint) === `/v1${path}`,
  );
}

const known = unifiedEndpoints
  .map((endpoint) => pathnameOf(endpoint).slice('/v1/'.length))
  .join(', ');
