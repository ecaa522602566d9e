import { canonicalPrefix } from '@sluice/contracts';
import { type JsonObject, objectOf, vendorBatchesOf } from '@sluice/providers';
import type { Exchange } from '../exchange/exchange.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';

const providerHeader = `${canonicalPrefix}provider`;
const virtualKeyHeader = `${canonicalPrefix}virtual-key`;
/** Which change nothing of what a line comes to. */
const plainHeaders: ReadonlySet<string> = new Set([
  providerHeader,
  virtualKeyHeader,
  `${canonicalPrefix}metadata`,
  `${canonicalPrefix}debug`,
]);
/** As of the data service. */
const managedName = ':managed';
const unbatched: ReadonlySet<string> = new Set(['/v1/rerank']);

/**
 * The headers of a batch, with how its provider is to run it where it can: for
 * the window that providers have, at one saved provider that has batches, and
 * where nothing has to be done for each line – no config, no guardrail that is
 * enforced, no list of models. Any other batch gateways run themselves.
 * @throws GatewayError `gateway.bundle_unavailable` where it is not known whether the workspace has the provider
 */
export async function withPlan(
  exchange: Pick<Exchange, 'bundle' | 'config'>,
  headers: Record<string, string>,
  { completion_window: window, endpoint, provider_options: options }: JsonObject,
  newer: Pick<NewerBundles, 'after'>,
): Promise<Record<string, string>> {
  if (window !== '24h' || exchange.config !== undefined) return headers;
  if (unbatched.has(String(endpoint))) return headers;
  if (Object.keys(headers).some((name) => !plainHeaders.has(name))) return headers;
  const named = headers[providerHeader] ?? headers[virtualKeyHeader];
  if (named === undefined) return headers;
  const slug = named.replace(/^@/, '');
  // Made a moment ago it may not be known here: whether its provider runs the batch is decided once.
  if (exchange.bundle !== undefined && !exchange.bundle.providers.has(slug))
    exchange.bundle = (await newer.after(exchange.bundle, true)) ?? exchange.bundle;
  const { bundle } = exchange;
  if (bundle?.enforced !== undefined) return headers;
  const saved = bundle?.providers.get(slug);
  const batches = saved?.entry && vendorBatchesOf(saved.entry.id);
  if (saved === undefined || batches === undefined || saved.limitsModels) return headers;
  const plan = {
    takesLines: batches.takesLines === true,
    isOpenAi: batches.create === undefined,
    options: objectOf(options) ?? {},
  };
  const { [virtualKeyHeader]: _key, ...rest } = headers;
  return { ...rest, [providerHeader]: `@${slug}`, [managedName]: JSON.stringify(plan) };
}
