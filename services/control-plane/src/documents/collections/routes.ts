import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import {
  changeCollection,
  createCollection,
  deleteCollection,
  reachCollection,
} from './operations.ts';
import { presentChild, presentCollection, presentWithDetails } from './present.ts';
import { listChildren, listCollections, readContents } from './store.ts';

export const collectionOperations = implementAll('collections', {
  list: async (call, { query }) => {
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
  },
  create: async (call, { body }) => {
    const { id, slug } = await createCollection(call, body);
    return { id, slug };
  },
  read: async (call) => {
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
  },
  update: (call, { body }) => changeCollection(call, pathParameter(call, 'collectionId'), body),
  delete: (call) => deleteCollection(call, pathParameter(call, 'collectionId')),
});
