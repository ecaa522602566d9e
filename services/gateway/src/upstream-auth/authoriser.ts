import { type HostRules, OpenedKeys, type UpstreamPools } from '@sluice/outbound';
import type { AuthRecipe } from '@sluice/providers';
import type {
  AuthorisedRequest,
  CallAuthoriser,
  UnauthorisedRequest,
} from '../calls/call-authoriser.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { authoriseAws } from './aws/aws.ts';
import { authoriseAzure } from './azure.ts';
import { authoriseGoogle } from './google.ts';
import { authoriseOci } from './oci.ts';
import { TokenCache } from './token-cache.ts';
import { createTokenEndpoints } from './token-endpoint.ts';

export interface AuthoriserDeps {
  pools: UpstreamPools;
  hostRules: HostRules;
  cloud: CloudSettings;
  nowMs?: () => number;
}

function isMadeForEachCall({ type }: AuthRecipe): boolean {
  return type === 'aws' || type === 'google' || type === 'azure' || type === 'oci';
}

export function createAuthoriser(deps: AuthoriserDeps): CallAuthoriser {
  const nowMs = deps.nowMs ?? Date.now;
  const common = {
    cloud: deps.cloud,
    hostRules: deps.hostRules,
    nowMs,
    tokens: new TokenCache({ nowMs }),
    keys: new OpenedKeys(),
  };
  return {
    isMadeForEachCall,
    authorise(request) {
      const askTokenEndpoint = createTokenEndpoints(deps.pools, request.owner);
      return authoriseBy(request, { ...common, askTokenEndpoint });
    },
    async foresee(request) {
      await authoriseBy(request, { ...common, ...asksNobody }).catch((error: unknown) => {
        if (error !== wouldAsk) throw error;
      });
    },
  };
}

/** Where something would be asked for, all that can be judged before is. */
const wouldAsk = new Error('a token or keys would be asked for');
const asksNobody = {
  tokens: { get: () => Promise.reject(wouldAsk) },
  askTokenEndpoint: () => Promise.reject(wouldAsk),
};

async function authoriseBy(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<AuthorisedRequest> {
  const { recipe } = request;
  switch (recipe.type) {
    case 'aws':
      return authoriseAws(request, recipe.service, tools);
    case 'google':
      return authoriseGoogle(request, tools);
    case 'azure':
      return authoriseAzure(request, recipe.keyHeader, tools);
    case 'oci':
      return authoriseOci(request, tools);
    default:
      return { ...request, headers: { ...request.headers } };
  }
}
