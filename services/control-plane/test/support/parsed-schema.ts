/** Enough of a reader for the Prisma schema to say what tables it stands for. */
export interface SchemaTable {
  name: string;
  columns: { name: string; type: string; nullable: boolean; hasDefault: boolean }[];
  /** Columns of each index, unique ones marked; the primary key first. */
  indexes: string[];
  /** `columns -> table on delete`. */
  foreignKeys: string[];
}

const types: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  Boolean: 'boolean',
  Json: 'jsonb',
  Bytes: 'bytea',
  'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
  'DateTime @db.Timestamptz(6)': 'timestamp(6) with time zone',
  'Decimal @db.Decimal(38, 9)': 'numeric(38,9)',
  'String @db.Uuid': 'uuid',
};

export function parseSchema(text: string): SchemaTable[] {
  const models = [...text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map((match) => ({
    model: match[1] as string,
    body: match[2] as string,
  }));
  const tableNames = new Map(
    models.map(({ model, body }) => [model, /@@map\("(\w+)"\)/.exec(body)?.[1] ?? model]),
  );
  return models.map(({ model, body }) => table(tableNames.get(model) as string, body, tableNames));
}

function table(name: string, body: string, tableNames: Map<string, string>): SchemaTable {
  const lines = body.split('\n').map((line) => line.replace(/\/\/.*$/, '').trim());
  const columnNames = new Map<string, string>();
  const result: SchemaTable = { name, columns: [], indexes: [], foreignKeys: [] };
  const relations: RegExpExecArray[] = [];
  const blocks: RegExpExecArray[] = [];
  for (const line of lines) {
    const block = /^@@(id|unique|index)\(\[([^\]]+)\]/.exec(line);
    if (block !== null) blocks.push(block);
    const field = /^(\w+)\s+(\w+)(\[\])?(\?)?\s*(.*)$/.exec(line);
    if (field === null) continue;
    const [, fieldName = '', fieldType = '', isList, optional, attributes = ''] = field;
    if (tableNames.has(fieldType)) {
      const relation = /@relation\(.*?fields: \[([^\]]+)\].*?onDelete: (\w+)/.exec(attributes);
      if (relation !== null)
        relations.push(
          Object.assign(relation, { groups: { target: tableNames.get(fieldType) as string } }),
        );
      continue;
    }
    const column = /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? fieldName;
    columnNames.set(fieldName, column);
    const native = /@db\.\w+(?:\([\d, ]+\))?/.exec(attributes)?.[0];
    const type =
      types[native === undefined ? fieldType : `${fieldType} ${native}`] ??
      `unknown ${fieldType} ${native}`;
    result.columns.push({
      name: column,
      type: isList ? `${type}[]` : type,
      nullable: optional !== undefined,
      hasDefault: attributes.includes('@default('),
    });
    if (/@id\b/.test(attributes)) result.indexes.push(`primary ${column}`);
  }
  const mapped = (list: string) =>
    list
      .split(',')
      .map((each) => columnNames.get(each.trim()))
      .join(',');
  for (const [, kind, list = ''] of blocks)
    result.indexes.push(
      `${kind === 'id' ? 'primary' : kind === 'unique' ? 'unique' : 'index'} ${mapped(list)}`,
    );
  for (const relation of relations)
    result.foreignKeys.push(
      `${mapped(relation[1] as string)} -> ${relation.groups?.target} on delete ${onDelete(relation[2] as string)}`,
    );
  return {
    ...result,
    columns: byName(result.columns),
    indexes: result.indexes.sort(),
    foreignKeys: result.foreignKeys.sort(),
  };
}

function onDelete(action: string): string {
  return action.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/** A column that a later migration added stands last in the table, wherever the schema has it. */
export function byName<T extends { name: string }>(columns: T[]): T[] {
  return columns.sort((a, b) => (a.name < b.name ? -1 : 1));
}
