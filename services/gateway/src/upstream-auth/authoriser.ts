import { type HostRules, OpenedKeys, type UpstreamPools } from '@sluice/outbound';
import type { AuthRecipe } from '@sluice/providers';
import type { CallAuthoriser } from '../calls/call-authoriser.ts';
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
    async authorise(request) {
      const { recipe, owner } = request;
      const tools: AuthorisationTools = {
        ...common,
        askTokenEndpoint: createTokenEndpoints(deps.pools, owner),
      };
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
    },
  };
}
