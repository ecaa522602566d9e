import { refuseConverse } from '@sluice/testkit';
import { awsEvent, awsStreamHeaders } from '../aws-frame.ts';
import { list, type Named, pieces, type Question, type Said, type Vendor } from './model.ts';

interface ToolConfig {
  tools?: { toolSpec?: Named }[];
  toolChoice?: { any?: object; tool?: object };
}

const tokens = { inputTokens: 9, outputTokens: 5, totalTokens: 14 };

/** Bedrock's Converse. */
export const converse: Vendor = {
  path: /\/converse(?:-stream)?$/,
  headers: awsStreamHeaders,
  refusalHeaders: { 'x-amzn-errortype': 'ValidationException' },
  refuse: (body, path) => refuseConverse(modelIn(path), body),
  read({ toolConfig, messages, system }, path) {
    const { tools, toolChoice } = (toolConfig ?? {}) as ToolConfig;
    return {
      model: modelIn(path),
      tools: list<{ toolSpec?: Named }>(tools).map(({ toolSpec }) => toolSpec?.name ?? ''),
      isForced: toolChoice?.any !== undefined || toolChoice?.tool !== undefined,
      // It has no field for one, and heeds what it is told.
      hasSchema: JSON.stringify(system ?? '').includes('degrees'),
      results: list<{ content: { toolResult?: object }[] }>(messages).flatMap(({ content }) =>
        content.filter(({ toolResult }) => toolResult !== undefined),
      ).length,
      isStreamed: path.endsWith('-stream'),
    };
  },
  reply: (said, question) => ({
    output: { message: { role: 'assistant', content: [blockOf(said, question)] } },
    stopReason: reasonOf(said),
    usage: tokens,
    metrics: { latencyMs: 1 },
  }),
  stream(said, { results }) {
    const told =
      'text' in said
        ? pieces(said.text).map((text) => delta({ text }))
        : [
            awsEvent('contentBlockStart', {
              contentBlockIndex: 0,
              start: { toolUse: { toolUseId: useId(results), name: said.name } },
            }),
            ...pieces(JSON.stringify(said.args)).map((input) => delta({ toolUse: { input } })),
          ];
    return [
      awsEvent('messageStart', { role: 'assistant' }),
      ...told,
      awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
      awsEvent('messageStop', { stopReason: reasonOf(said) }),
      awsEvent('metadata', { usage: tokens }),
    ];
  },
};

function modelIn(path: string): string {
  return decodeURIComponent(/\/model\/([^/]+)/.exec(path)?.[1] ?? '');
}

const useId = (results: number): string => `tooluse_${results}`;

function reasonOf(said: Said): string {
  return 'text' in said ? 'end_turn' : 'tool_use';
}

function blockOf(said: Said, { results }: Question): object {
  if ('text' in said) return { text: said.text };
  return { toolUse: { toolUseId: useId(results), name: said.name, input: said.args } };
}

function delta(value: object): Buffer {
  return awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: value });
}
