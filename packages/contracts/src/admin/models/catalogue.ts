import { z } from 'zod';
import { shapeNames } from '../../fields/shape-names.ts';
import { keyTypes } from '../../scopes.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import { policyTargets } from '../limits/policy-conditions.ts';

/** Whoever sets something up has one of these. */
const access = { keys: anyKey, scopes: ['providers.list', 'configs.list', 'policies.list'] };
const added = 'names that otherwise stand in pages only, for programs';
const query = pageQuery({ default: 100, max: 1000 });

function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal('list'), total: z.int(), data: z.array(item) });
}

const provider = z
  .object({
    id: z.string(),
    name: z.string(),
    aliases: z.array(z.string()),
    base_url: z.string().optional(),
    endpoints: z.array(z.string()),
    settings: z.array(z.object({ name: z.string(), header: z.string(), kind: z.string() })),
    note: z.string().optional(),
  })
  .register(shapeNames, { name: 'CatalogueProvider' });

const scope = z
  .object({
    id: z.string(),
    key_types: z.array(z.enum(keyTypes)),
    operations: z.array(z.string()),
  })
  .register(shapeNames, { name: 'CatalogueScope' });

const conditionKey = z
  .object({
    id: z.string(),
    policy_targets: z.array(z.enum(policyTargets)),
    about: z.string(),
  })
  .register(shapeNames, { name: 'CatalogueConditionKey' });

const operation = z
  .object({
    id: z.string(),
    method: z.string(),
    path: z.string(),
    scopes: z.array(z.string()),
    counts_request: z.boolean(),
  })
  .register(shapeNames, { name: 'CatalogueEndpoint' });

export const catalogueEndpoints = {
  'catalogue.providers': endpoint({
    operationId: 'listCatalogueProviders',
    summary: 'List the providers that can be connected',
    tag: 'Catalogue',
    method: 'get',
    path: '/catalogue/providers',
    access,
    query,
    answer: listOf(provider),
    added,
  }),
  'catalogue.scopes': endpoint({
    operationId: 'listCatalogueScopes',
    summary: 'List the scopes that keys can have, and what each opens',
    tag: 'Catalogue',
    method: 'get',
    path: '/catalogue/scopes',
    access,
    query,
    answer: listOf(scope),
    added,
  }),
  'catalogue.conditionKeys': endpoint({
    operationId: 'listCatalogueConditionKeys',
    summary: 'List what conditions and groups of policies can name',
    tag: 'Catalogue',
    method: 'get',
    path: '/catalogue/condition-keys',
    access,
    query,
    answer: listOf(conditionKey),
    added,
  }),
  'catalogue.endpoints': endpoint({
    operationId: 'listCatalogueEndpoints',
    summary: 'List what callers can ask the gateway for',
    tag: 'Catalogue',
    method: 'get',
    path: '/catalogue/endpoints',
    access,
    query,
    answer: listOf(operation),
    added,
  }),
};
