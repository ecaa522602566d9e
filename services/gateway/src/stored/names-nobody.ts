import type { Exchange } from '../exchange/exchange.ts';

/** What names the service itself where a config by default names a provider. */
const ownName = 'service';

/** Whether the service itself is asked: it is named, or no provider is, by the request or its config. */
export function namesNobody({ arrival: { caller }, config }: Exchange): boolean {
  if (caller.provider?.replace(/^@/, '') === ownName) return true;
  return (
    caller.provider === undefined &&
    caller.customHost === undefined &&
    config?.compiled.namesProvider !== true
  );
}
