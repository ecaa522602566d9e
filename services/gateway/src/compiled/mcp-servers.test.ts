import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { emptyTables } from '../held/sections/index.ts';
import { findAgentServer } from './agent-servers.ts';
import { capabilityKey, findMcpServer } from './mcp-servers.ts';

const { McpServerSchema, AgentServerSchema } = config;
type Fields = Exclude<MessageInitShape<typeof McpServerSchema>, config.McpServer>;

const encoded = (fields: Fields) =>
  toBinary(McpServerSchema, create(McpServerSchema, { id: 'id-1', slug: 'sums', ...fields }));

function tableOf(fields: Fields) {
  const { mcpServers } = emptyTables();
  mcpServers.add(encoded(fields));
  return mcpServers;
}

describe('findMcpServer', () => {
  it('finds by slug and by id, and compiles once', () => {
    const table = tableOf({ configurationsJson: '{"custom_headers":{"a":"b"}}' });
    const server = findMcpServer(table, 'sums');
    expect(server?.configurations).toEqual({ custom_headers: { a: 'b' } });
    expect(findMcpServer(table, 'sums')).toBe(server);
    expect(findMcpServer(table, 'id-1')?.version).toBe(server?.version);
    expect(findMcpServer(table, 'other')).toBeUndefined();
  });

  it('is another object and version after a change of this server, and the same after one of another', () => {
    const table = tableOf({});
    const before = findMcpServer(table, 'sums');
    const other = table.with([encoded({ id: 'id-2', slug: 'other' })], []);
    expect(findMcpServer(other, 'sums')).toBe(before);
    const changed = table.with([encoded({ enabled: true })], []);
    expect(findMcpServer(changed, 'sums')?.version).not.toBe(before?.version);
    expect(findMcpServer(table.with([], ['id-1']), 'sums')).toBeUndefined();
  });

  it('allows what is new only where that is said', () => {
    const allowed = (newCapabilities: string) =>
      findMcpServer(tableOf({ newCapabilities }), 'sums')?.allowsNew;
    expect(['enabled', 'disabled', '', 'later'].map(allowed)).toEqual([true, false, false, false]);
  });

  it('reads its policy, and allows nothing by one that it cannot read', () => {
    const read = (policy: object | string) =>
      findMcpServer(
        tableOf({ policyJson: typeof policy === 'string' ? policy : JSON.stringify(policy) }),
        'sums',
      );
    const rule = (field: string) => ({
      access: [{ rules: [{ effect: 'deny', query: { [field]: 'x' } }] }],
    });
    expect(read('')).toMatchObject({ policy: {}, policyIsUnread: false });
    expect(read(rule('user.id'))).toMatchObject({ policyIsUnread: false });
    expect(read(rule('planet.id'))).toMatchObject({ policyIsUnread: true });
    expect(read('[')).toMatchObject({ policyIsUnread: true });
  });

  it('has capabilities by type and name', () => {
    const capability = create(config.McpCapabilitySchema, {
      type: 'tool',
      name: 'add',
      fixedArgumentsJson: '{"tenant":1}',
    });
    const server = findMcpServer(tableOf({ capabilities: [capability] }), 'sums');
    const found = server?.capabilities.get(capabilityKey('tool', 'add'));
    expect(found?.fixedArguments).toEqual({ tenant: 1 });
    expect(server?.capabilities.get(capabilityKey('prompt', 'add'))).toBeUndefined();
  });
});

describe('findAgentServer', () => {
  it('knows the skills that are off, and the card', () => {
    const { agentServers } = emptyTables();
    const message = create(AgentServerSchema, {
      id: 'id-1',
      slug: 'helper',
      cardJson: '{"name":"Helper"}',
      skills: [
        { id: 'on', enabled: true },
        { id: 'off', enabled: false },
      ],
    });
    agentServers.add(toBinary(AgentServerSchema, message));
    const server = findAgentServer(agentServers, 'helper');
    expect([...(server?.skillsOff ?? [])]).toEqual(['off']);
    expect(server?.card).toEqual({ name: 'Helper' });
    expect(findAgentServer(agentServers, 'none')).toBeUndefined();
  });
});
