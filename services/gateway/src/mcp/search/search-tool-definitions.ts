/** The tools that callers of a searched server are shown in place of its own. */
const definitions = [
  {
    name: 'find_tools',
    title: 'Find tools',
    description:
      'This server has many tools. Finds those that fit what is to be done, by words of their names, titles, descriptions and arguments; best first.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'A few words, e.g. "create issue".' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 50,
          description: 'At most so many; default 10.',
        },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'describe_tools',
    title: 'Describe tools',
    description:
      'Tells what tools take and answer: their whole definitions, by the names that find_tools gave.',
    inputSchema: {
      type: 'object',
      properties: {
        names: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 20 },
      },
      required: ['names'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'call_tool',
    title: 'Call a tool',
    description:
      'Calls a tool by its name with the arguments that describe_tools says it takes, and answers what it answers.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        arguments: { type: 'object', description: 'As the inputSchema of the tool says.' },
      },
      required: ['name'],
    },
  },
];

export const searchToolDefinitions: readonly Buffer[] = definitions.map((definition) =>
  Buffer.from(JSON.stringify(definition)),
);

export const searchToolNames: ReadonlySet<string> = new Set(definitions.map(({ name }) => name));

/** What a model is told that calls them wrongly. */
export const searchTexts = {
  findFault:
    'find_tools takes query, a text of 1 to 1,000 characters, and limit, an integer of 1 or more.',
  describeFault: 'describe_tools takes names, a list of 1 to 20 texts.',
  callFault: 'call_tool takes name, a text, and arguments, an object.',
} as const;
