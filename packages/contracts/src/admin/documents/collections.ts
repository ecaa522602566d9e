import { z } from 'zod';
import {
  instantText,
  nameField,
  referenceField,
  searchField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';

const collectionDetails = z.object({
  child_collections_count: z.int(),
  prompts_count: z.int(),
  child_collections_last_updated_at: instantText.nullable(),
  prompts_last_updated_at: instantText.nullable(),
});

const collection = z.object({
  id: z.uuid(),
  name: z.string(),
  workspace_id: z.uuid(),
  slug: z.string(),
  parent_collection_id: z.uuid().nullable(),
  is_default: z.boolean(),
  status: z.enum(['active', 'archived']),
  created_at: instantText,
  last_updated_at: instantText,
});

const collectionWithDetails = collection
  .extend({ collection_details: collectionDetails })
  .register(shapeNames, { name: 'CollectionSummary' });

const childCollection = z.object({
  id: z.uuid(),
  name: z.string(),
  last_updated_at: instantText,
  collection_details: collectionDetails,
});

const collectionWithChildCollections = collection
  .extend({
    child_collections: z.array(childCollection),
  })
  .register(shapeNames, { name: 'Collection' });

// Nobody named scopes for collections: they are parts of prompts.
export const collectionsEndpoints = {
  'collections.list': endpoint({
    operationId: 'getCollections',
    summary: 'List folders of prompts',
    tag: 'Collections',
    method: 'get',
    path: '/collections',
    access: { keys: anyKey, scopes: ['prompts.list'] },
    query: z
      .object({
        workspace_id: referenceField.optional(),
        search: searchField.optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: z.object({
      total: z.int(),
      data: z.array(collectionWithDetails),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'collections.create': endpoint({
    operationId: 'postCollections',
    summary: 'Make a folder for prompts',
    tag: 'Collections',
    method: 'post',
    path: '/collections',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'collections', action: 'create' },
    body: z.object({
      workspace_id: referenceField.optional(),
      name: nameField,
      slug: slugField.optional(),
      parent_collection_id: referenceField.nullish(),
    }),
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'collections.read': endpoint({
    operationId: 'getCollectionsCollectionId',
    summary: 'Show one folder of prompts',
    tag: 'Collections',
    method: 'get',
    path: '/collections/{collectionId}',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    answer: collectionWithChildCollections,
    errors: [401, 403, 404, 500],
  }),
  'collections.update': endpoint({
    operationId: 'putCollectionsCollectionId',
    summary: 'Rename a folder of prompts',
    tag: 'Collections',
    method: 'put',
    path: '/collections/{collectionId}',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'collections', action: 'update' },
    body: z.object({
      name: nameField,
      /** Ours: moves the collection; null puts it at the top. */
      parent_collection_id: referenceField.nullish(),
    }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'collections.delete': endpoint({
    operationId: 'deleteCollectionsCollectionId',
    summary: 'Delete a folder of prompts',
    tag: 'Collections',
    method: 'delete',
    path: '/collections/{collectionId}',
    access: { keys: anyKey, scopes: ['prompts.delete'] },
    audit: { resourceType: 'collections', action: 'delete' },
    answer: nothing,
    errors: [401, 403, 404, 500],
  }),
};
