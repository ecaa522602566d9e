import { describe, expect, it } from 'vitest';
import { type SearchedTool, searchTools, wordsOf } from './search-tools.ts';

const tool = (name: string, description = '', args: string[] = []): SearchedTool => ({
  name,
  definition: {
    name,
    description,
    inputSchema: { type: 'object', properties: Object.fromEntries(args.map((arg) => [arg, {}])) },
  },
});
const tools = [
  tool('files_read', 'Reads a file from disk', ['path']),
  tool('git_createIssue', 'Opens an issue in a repository', ['title', 'repository']),
  tool('git_list_issues', 'Lists issues of a repository', ['repository', 'state']),
  tool('mail_send', 'Sends a message to somebody', ['recipient', 'body']),
  tool('weather', 'The weather of a town, for those who read forecasts', ['town']),
];
const found = (query: string) => searchTools(tools, query).map(({ name }) => name);

describe('searchTools', () => {
  it.each([
    ['create issue', ['git_createIssue', 'git_list_issues']],
    ['list issues', ['git_list_issues', 'git_createIssue']],
    ['read', ['files_read', 'weather']],
    ['recipient', ['mail_send']],
    ['FORECAST', ['weather']],
    ['repo', ['git_list_issues', 'git_createIssue']],
    ['nothing of it', ['git_list_issues', 'weather']],
    ['zzz', []],
    ['', []],
    ['…', []],
  ])('%j', (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  it('gives the same order each time, and of those that fit alike the first first', () => {
    const alike = ['c', 'a', 'b'].map((name) => tool(`${name}_x`, 'the same'));
    for (let round = 0; round < 3; round++)
      expect(searchTools(alike, 'same').map(({ name }) => name)).toEqual(['c_x', 'a_x', 'b_x']);
  });

  it('takes definitions of any shape', () => {
    const odd = [
      { name: 'odd', definition: { name: 'odd', title: 7, annotations: null, inputSchema: [] } },
    ];
    expect(searchTools(odd as unknown as SearchedTool[], 'odd 7')).toHaveLength(1);
    expect(searchTools([tool('x', 'y '.repeat(1e6))], 'y')).toHaveLength(1);
  });

  it('cuts names into words', () => {
    expect(wordsOf('getHTTPUrl_of-user.ID42x')).toEqual([
      'get',
      'http',
      'url',
      'of',
      'user',
      'id42x',
    ]);
  });
});
