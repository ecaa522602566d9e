import type { HeaderSpelling } from '@sluice/contracts';
import { fromUnknown, type GatewayError } from '@sluice/errors';
import type { Exchange, ModelExchange } from '../../exchange/exchange.ts';
import type { Reply } from '../../exchange/reply.ts';
import { endpointOf } from '../../exchange/subject.ts';
import { spelledError } from '../../http/header-names.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import { limitRefusal } from '../../limits/refusal.ts';
import { RequestLimits } from '../../limits/request-limits.ts';
import type { Stage } from '../pipeline.ts';
import { checkKey } from '../stages/authenticate.ts';
import { readRequest } from '../stages/read-request.ts';
import { explainedLimits } from './explain-limits.ts';
import { type ExplainPlanDeps, explainPlan } from './explain-plan.ts';
import {
  type ExplainedConfig,
  type ExplainedTools,
  type Explanation,
  explainedFault,
} from './explanation.ts';

/** Undefined = none would be run. */
export type ExplainTools = (
  exchange: ModelExchange,
) => { shown: readonly ExplainedTools[]; refusal: GatewayError | undefined } | undefined;

export interface ExplainDeps extends ExplainPlanDeps {
  limits: LimitStore;
  tools: ExplainTools;
  /** The stages that real requests run. */
  resolveConfig: Stage;
  usePrompt: Stage;
  /** In the place of the one that keeps responses. */
  showKept: Stage;
  bringFiles: Stage;
}

/**
 * The decision on a request, by the code that decides real ones, and nothing
 * else: no call, no limit used, nothing remembered, no usage record. Goes on
 * after a refusal as long as what follows does not depend on it. The exchange
 * is authenticated, and carries the route and path of the request in question.
 * @throws GatewayError when the body cannot be read
 */
export async function explain(
  exchange: ModelExchange,
  spelling: HeaderSpelling,
  deps: ExplainDeps,
): Promise<Explanation> {
  const { key, bundle } = exchange;
  if (key === undefined || bundle === undefined)
    throw new Error('explain runs after authentication');
  // Of somebody else's key, about which an admin asks.
  const keyFault = await faultOf(async (asked, next) => {
    checkKey(asked, key);
    return next();
  }, exchange);
  const limits = RequestLimits.of(deps.limits, exchange);
  exchange.limits = limits;
  const checks = await limits.peekRequest();
  const configFault = await faultOf(deps.resolveConfig, exchange);
  const readFault = await faultOf(readRequest, exchange);
  if (readFault !== undefined && isUnreadable(readFault)) throw readFault;
  const bodyFault =
    readFault ??
    (await faultOf(
      (asked, next) =>
        deps.usePrompt(asked, () => deps.showKept(asked, () => deps.bringFiles(asked, next))),
      exchange,
    ));
  const tools = bodyFault === undefined ? deps.tools(exchange) : undefined;
  const planned =
    configFault === undefined && bodyFault === undefined
      ? await explainPlan(exchange, spelling, deps)
      : undefined;
  const refusal =
    keyFault ??
    limitRefusal(checks) ??
    configFault ??
    bodyFault ??
    tools?.refusal ??
    planned?.refusal;
  const shown = refusal === undefined ? undefined : spelledError(refusal, spelling);
  return {
    object: 'explain',
    request_id: exchange.arrival.requestIdText,
    endpoint: endpointOf(exchange.subject),
    key: {
      id: key.source.id,
      name: key.source.name,
      slug: key.source.slug === '' ? null : key.source.slug,
      workspace_id: key.source.workspaceId,
      organisation_id: key.source.organisationId,
    },
    bundle_hash: bundle.source.hash,
    config: configFault === undefined ? explainedConfig(exchange) : null,
    limits: [...explainedLimits(planned?.ownChecks ?? checks, null), ...(planned?.limits ?? [])],
    choices: planned?.choices ?? [],
    plan: planned?.steps ?? [],
    attempts: planned?.attempts ?? null,
    ...(planned === undefined || planned.leftOut === 0
      ? {}
      : { plan_steps_left_out: planned.leftOut }),
    ...(tools === undefined ? {} : { tools: tools.shown }),
    ...(shown === undefined ? {} : { would_fail: explainedFault(shown) }),
    ...(shown?.faults === undefined ? {} : { errors: shown.faults }),
  };
}

/** Runs one stage for what it finds out. @throws what is a fault of ours */
async function faultOf(stage: Stage, exchange: Exchange): Promise<GatewayError | undefined> {
  try {
    await stage(exchange, async () => noReply);
    return undefined;
  } catch (caught) {
    const error = fromUnknown(caught);
    if (error.code === 'internal') throw error;
    return error;
  }
}

const noReply: Reply = { kind: 'body', status: 204, headers: {}, body: Buffer.alloc(0) };

/** A body that is no JSON object explains nothing; one with a wrong field is a request that would fail. */
function isUnreadable(error: GatewayError): boolean {
  return error.code !== 'request.invalid_field' || error.field === 'body';
}

function explainedConfig({ config }: Exchange): ExplainedConfig | null {
  if (config === undefined) return null;
  const { saved, compiled } = config;
  return {
    source: config.source,
    id: saved?.id ?? null,
    slug: saved?.slug ?? null,
    version_id: saved?.versionId ?? null,
    name: saved?.name ?? null,
    strategy_mode: compiled.strategyMode,
    ...(compiled.ignored.length === 0 ? {} : { ignored: compiled.ignored }),
  };
}
