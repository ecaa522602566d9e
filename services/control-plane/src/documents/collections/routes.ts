import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { Operation } from '../../kernel/http/operation.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import {
  changeCollection,
  createCollection,
  deleteCollection,
  reachCollection,
} from './operations.ts';
import { presentChild, presentCollection, presentWithDetails } from './present.ts';
import { listChildren, listCollections, readContents } from './store.ts';

export const collectionOperations: readonly Operation[] = [
  implement('collections.list', async (call, { query }) => {
    const workspace = await requireWorkspace(
      call.db,
      call.caller,
      namedWorkspace(undefined, call.query),
    );
    const { rows, total } = await listCollections(call.db, workspace.id, query);
    const contentsOf = await readContents(
      call.db,
      rows.map((row) => row.id),
    );
    return { total, data: rows.map((row) => presentWithDetails(row, contentsOf(row.id))) };
  }),
  implement('collections.create', async (call, { body }) => {
    const { id, slug } = await createCollection(call, body);
    return { id, slug };
  }),
  implement('collections.read', async (call) => {
    const collection = await reachCollection(call, call.db, pathParameter(call, 'collectionId'));
    const children = await listChildren(call.db, collection.id);
    const contentsOf = await readContents(
      call.db,
      children.map((child) => child.id),
    );
    return {
      ...presentCollection(collection),
      child_collections: children.map((child) => presentChild(child, contentsOf(child.id))),
    };
  }),
  implement('collections.update', async (call, { body }) => {
    await changeCollection(call, pathParameter(call, 'collectionId'), body);
    return {};
  }),
  implement('collections.delete', async (call) => {
    await deleteCollection(call, pathParameter(call, 'collectionId'));
    return {};
  }),
];
