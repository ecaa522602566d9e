import { normaliseScope } from '@sluice/contracts';
import { RefusalLog } from '@sluice/jwt';
import type { GuardedFetch } from '@sluice/outbound';
import { callFault } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { ConfigSource } from '../held/config-source.ts';
import { Organisations } from '../held/organisations.ts';
import { TokenKeys } from '../jwt-keys/token-keys.ts';
import type { Env } from '../settings.ts';

export interface TokensParts {
  source: ConfigSource;
  /** To organisations' own identity providers; this part closes it. */
  fetch: GuardedFetch | undefined;
  logger: Logger;
}

/** JWTs as credentials; neither tokens nor organisations where they are not taken. */
export function tokensPart(env: Env, { source, fetch, logger }: TokensParts) {
  const taken = fetch && take(env, { source, fetch, logger });
  const part: Part = {
    name: 'tokens',
    stop: () => Promise.all([taken?.refusals.stop(), fetch?.close()]),
    gauges: () => [
      { name: 'sluice_config_tokens', help: 'JWTs held', read: () => taken?.tokens.size ?? 0 },
    ],
  };
  return { tokens: taken?.tokens, organisations: taken?.organisations, part };
}

function take(env: Env, { source, fetch, logger }: TokensParts & { fetch: GuardedFetch }) {
  const listed = env.ORGANISATIONS_TO_SYNC;
  const organisations = new Organisations({ source, fetch, logger, listed: listed ?? [] });
  const refusals = new RefusalLog({
    write: (report) => source.reportRefusedTokens(report),
    onError: (error) => logger.warn(callFault(error), 'refused tokens could not be reported'),
  });
  const defaultScopes = (env.JWT_LOCAL_AUTH_DEFAULT_SCOPES ?? []).map(normaliseScope);
  const tokens = new TokenKeys({ organisations, refusals, listed, defaultScopes });
  return { organisations, refusals, tokens };
}
