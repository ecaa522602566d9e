import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import { ask, type Key, mergedPartials, partialsBy, withSources } from './ask.ts';
import { type Figures, figureColumn, figureColumns, figuresIn, groupColumns } from './figures.ts';
import { type Condition, conditionOf, placeOf } from './filter.ts';
import { partialsIn } from './partials.ts';
import type { Reader } from './questions.ts';

const { Group } = analytics;

export interface GroupRow {
  value: string;
  values: Record<string, number>;
}

export interface GroupsQuestion {
  readonly key: Key;
  readonly filter: analytics.Filter;
  readonly condition: Condition;
  readonly figures: Figures;
  /** A figure. */
  readonly orderBy: string;
  readonly ascending: boolean;
  readonly size: number;
  readonly index: number;
}

export const modelKey: Key = { of: ['model'], sql: 'model' };

/** What entries are grouped by. Those that say nothing of it are in no group. */
const keys: Partial<Record<analytics.Group, Key>> = {
  [Group.AI_MODELS]: modelKey,
  [Group.MODEL]: modelKey,
  [Group.USERS]: { of: ['end_user'], sql: 'end_user' },
  [Group.AI_SERVICE]: { of: ['provider'], sql: 'provider' },
  [Group.STATUS_CODE]: { of: ['status_code'], sql: 'toString(status_code)' },
  [Group.API_KEY]: { of: ['api_key_id'], sql: 'api_key_id' },
  [Group.CONFIG]: { of: ['config_slug'], sql: 'config_slug' },
  [Group.WORKSPACE]: { of: ['workspace_id'], sql: 'workspace_id' },
  [Group.PROVIDER]: { of: ['provider_slug'], sql: 'provider_slug' },
  [Group.PROMPT]: { of: ['prompt_slug'], sql: 'prompt_slug' },
  [Group.TOOL]: { of: ['capability_name'], sql: 'capability_name' },
  [Group.MODE]: { of: ['endpoint'], sql: 'endpoint' },
};

/** The question that is asked, once it was found to be one. */
export function groupsQuestion(
  request: analytics.ListGroupsRequest,
  filter: analytics.Filter,
): GroupsQuestion {
  const condition = conditionOf(filter);
  const key =
    request.group === Group.METADATA
      ? keyOfMetadata(condition, request.metadataKey)
      : keys[request.group];
  if (key === undefined) throw new GatewayError('admin.validation', { field: 'group' });
  const orderBy = request.orderBy || 'requests';
  const names = ['requests', 'cost', ...request.columns, orderBy];
  const figures = Object.fromEntries(names.map((name) => [name, figureOf(name)]));
  return {
    key,
    filter,
    condition,
    figures,
    orderBy,
    ascending: request.ascending,
    size: Math.min(request.pageSize || pageSizeDefault, pageSizeMax),
    index: request.currentPage,
  };
}

const pageSizeDefault = 100;
const pageSizeMax = 1000;

function keyOfMetadata({ parameters }: Condition, name: string): Key {
  const key = parameters.bind('String', name);
  return {
    of: ['metadata'],
    // What has the key with nothing in it says nothing of it.
    sql: `metadata[${key}]`,
    metadataKey: name,
  };
}

function figureOf(name: string): string {
  const figures: Figures = groupColumns;
  if (!Object.hasOwn(figures, name))
    throw new GatewayError('admin.validation', { field: 'columns' });
  return figures[name]!;
}

/** A page of groups, and how many there are in all. One question: the first row comes with every page, for the number. */
export async function queryGroups(
  client: Reader,
  { key, filter, condition: asked, figures, orderBy, ascending, size, index }: GroupsQuestion,
): Promise<{ total: bigint; rows: GroupRow[] }> {
  const names = partialsIn(Object.values(figures));
  const condition = await withSources(client, key, asked, names, placeOf(filter));
  const { parameters } = condition;
  const before = BigInt(size) * BigInt(index);
  const [first, last] = [before, before + BigInt(size)].map((place) =>
    parameters.bind('UInt64', place),
  );
  const rows = await ask<{ key: string; place: string; total: string }>(
    client,
    `SELECT * FROM (
      SELECT key, ${figureColumns(figures)}, count() OVER () AS total,
        row_number() OVER (ORDER BY ${figureColumn(orderBy)} ${ascending ? 'ASC' : 'DESC'}, key ASC) AS place
      FROM (
        SELECT key, ${mergedPartials(names)}
        FROM ${partialsBy(key, condition, names)}
        WHERE key != ''
        GROUP BY key
      )
    )
    WHERE place = 1 OR (place > ${first} AND place <= ${last})
    ORDER BY place`,
    condition,
  );
  return {
    total: BigInt(rows[0]?.total ?? 0),
    rows: rows
      .filter((row) => BigInt(row.place) > before)
      .map((row) => ({ value: row.key, values: figuresIn(row, figures) })),
  };
}
