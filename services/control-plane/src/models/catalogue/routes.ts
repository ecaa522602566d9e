import { keyTypes, operations, scopesOf } from '@sluice/contracts';
import { type AnswerOf, adminEndpoints, conditionKeys } from '@sluice/contracts/admin';
import { declaredSettings, findProvider, type ProviderEntry, providerIds } from '@sluice/providers';
import { implementAll } from '../../kernel/http/implement.ts';

type Item<Id extends 'providers' | 'scopes' | 'endpoints'> =
  AnswerOf<`catalogue.${Id}`>['data'][number];

/** What programs can name. All of it is told from where it stands; nothing is kept of it here. */
export const catalogueOperations = implementAll('catalogue', {
  providers: async (_call, { query }) =>
    page(
      providerIds().flatMap((id) => findProvider(id) ?? []),
      query,
      presentProvider,
    ),
  scopes: async (_call, { query }) => page(allScopes, query, presentScope),
  conditionKeys: async (_call, { query }) =>
    page(conditionKeys, query, ({ id, targets, about }) => ({
      id,
      policy_targets: [...targets],
      about,
    })),
  endpoints: async (_call, { query }) => page(Object.values(operations), query, presentOperation),
});

function page<From, To>(
  all: readonly From[],
  { currentPage, pageSize }: { currentPage: number; pageSize: number },
  present: (one: From) => To,
) {
  const first = currentPage * pageSize;
  const data = all.slice(first, first + pageSize).map(present);
  return { object: 'list' as const, total: all.length, data };
}

function presentProvider(entry: ProviderEntry): Item<'providers'> {
  const { id, name, aliases = [], baseUrl, endpoints, note } = entry;
  return {
    id,
    name,
    aliases: [...aliases],
    // Others are made of settings.
    base_url: typeof baseUrl === 'string' && baseUrl !== '' ? baseUrl : undefined,
    endpoints: Object.keys(endpoints),
    settings: declaredSettings(entry).map(({ name: setting, header, kind }) => ({
      name: setting.replaceAll('-', '_'),
      header,
      kind,
    })),
    note,
  };
}

const allScopes = [...new Set(keyTypes.flatMap((type) => scopesOf(type)))].sort();

/** Operations that a scope opens: of the admin API by their published ids, of the gateway by those of `endpoints`. */
function presentScope(id: string): Item<'scopes'> {
  const admin = Object.values(adminEndpoints).flatMap((each) => {
    const scopes = each.access?.scopes ?? [];
    const needed = Array.isArray(scopes) ? scopes : Object.values(scopes).flat();
    return needed.includes(id) ? [each.operationId] : [];
  });
  const gateway = Object.values(operations).flatMap((each) =>
    each.scopes.includes(id) ? [each.id] : [],
  );
  return {
    id,
    key_types: keyTypes.filter((type) => scopesOf(type).includes(id)),
    operations: [...admin, ...gateway],
  };
}

function presentOperation({
  id,
  at,
  scopes,
  spends,
}: (typeof operations)[keyof typeof operations]): Item<'endpoints'> {
  const [method = '', path = ''] = at.split(' ');
  return { id, method, path, scopes: [...scopes], counts_request: spends === 'request' };
}
