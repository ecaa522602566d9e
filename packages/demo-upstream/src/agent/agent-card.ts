import type { JsonObject } from '../protocol.ts';

/** One card that clients of A2A 0.3 and of 1.0 understand: each ignores the other's members. */
export function agentCard(base: string): JsonObject {
  return {
    name: 'Sluice demo agent',
    description: 'Repeats what it is told, word by word.',
    version: '1.0.0',
    provider: { organization: 'Sluice', url: 'https://example.com' },
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'repeat',
        name: 'Repeat',
        description:
          'Says again what it is told. A text that begins with "slow 5" takes 5 seconds.',
        tags: ['demo'],
        examples: ['Hello there', 'slow 5'],
      },
    ],
    supportedInterfaces: [
      { url: base, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: base, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    protocolVersion: '0.3.0',
    url: base,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: base, transport: 'JSONRPC' },
      { url: base, transport: 'HTTP+JSON' },
    ],
  };
}
