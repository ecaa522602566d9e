/**
 * A model vendor without a model: answers in OpenAI's and Anthropic's wire
 * formats, deterministically and without a key, so that a fresh installation
 * has something to call and a benchmark something fast. `server.ts` has the
 * routes, one file each the formats, `scripted-model.ts` the model names that
 * ask for delays, errors or a number of events.
 *
 * `stored/` keeps responses and conversations in memory, `jobs/` files, batches,
 * videos and fine-tunes. Sessions over WebSocket at `/v1/realtime`, with calls that have no sound.
 * Beside it on the same port: an MCP server of both eras at `/mcp` and an A2A
 * agent of both generations at `/agent`.
 */
export { type DemoUpstream, startDemoUpstream } from './server.ts';
