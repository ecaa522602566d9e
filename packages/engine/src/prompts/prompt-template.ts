import { type JsonError, jsonBounds, parseText, readJsonText } from '@sluice/json';
import { parseTemplate, type Template, type TemplateNode } from './parse-template.ts';
import {
  type FindPartial,
  RenderBudget,
  type RenderOptions,
  renderTemplate,
} from './render-template.ts';
import { TemplateFault } from './template-fault.ts';

/** A prompt as it was saved. */
export interface PromptSource {
  readonly template: string;
  /** Rendered as text, and read as JSON afterwards. */
  readonly isRaw: boolean;
  /** `chat`, or another word for text; without it the template's looks decide. */
  readonly type: string | undefined;
}

/** A prompt made ready for rendering. */
export type CompiledPrompt =
  | { readonly kind: 'text'; readonly template: Template }
  | { readonly kind: 'messages'; readonly messages: CompiledValue }
  | { readonly kind: 'raw-messages'; readonly template: Template };

/** JSON whose texts are templates. */
type CompiledValue =
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'list'; readonly items: readonly CompiledValue[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, CompiledValue])[] };

export type RenderedPrompt =
  | { readonly messages: readonly Record<string, unknown>[] }
  | { readonly prompt: string };

const depthMax = 50;

/** @throws TemplateFault naming what is wrong with the template */
export function compilePrompt({ template, isRaw, type }: PromptSource): CompiledPrompt {
  const isChat = type === undefined ? isRaw || looksLikeMessages(template) : type === 'chat';
  if (!isChat) return { kind: 'text', template: parseTemplate(template) };
  if (isRaw) return { kind: 'raw-messages', template: parseTemplate(template) };
  let messages: unknown;
  try {
    messages = parseText(template);
  } catch (error) {
    // Sections around whole messages: JSON only once they are gone.
    const parsed = parseTemplate(template);
    if (hasSection(parsed)) return { kind: 'raw-messages', template: parsed };
    throw new TemplateFault(`it is not a JSON array of messages: ${(error as Error).message}`);
  }
  checkMessages(messages);
  return { kind: 'messages', messages: compileValue(messages, 0) };
}

/**
 * Renders each template once; what a value says is never read as a template.
 * @throws TemplateFault naming what is missing or wrong
 */
export function renderPrompt(
  prompt: CompiledPrompt,
  variables: Readonly<Record<string, unknown>>,
  findPartial: FindPartial,
): RenderedPrompt {
  const budget = new RenderBudget();
  const plain: RenderOptions = { findPartial, escape: (text) => text, budget };
  if (prompt.kind === 'text') {
    const text = renderTemplate(prompt.template, variables, plain);
    budget.check();
    return { prompt: text };
  }
  if (prompt.kind === 'messages') {
    const messages = renderValue(prompt.messages, variables, plain);
    budget.check();
    return { messages: messages as Record<string, unknown>[] };
  }
  const text = renderTemplate(prompt.template, variables, { ...plain, escape: escapeInJson });
  budget.check();
  return { messages: parseMessages(text) };
}

/** An array of objects, or one whose first element comes from a section. `[INST]` is text. */
function looksLikeMessages(template: string): boolean {
  return /^\s*\[\s*(?:\]|\{(?!\{)|\{\{\s*[#^])/.test(template);
}

function hasSection(template: Template): boolean {
  return template.some((node: TemplateNode) => node.kind === 'section');
}

function checkMessages(value: unknown): asserts value is Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new TemplateFault('it is not a JSON array of messages');
  for (const [index, message] of value.entries())
    if (typeof message?.role !== 'string')
      throw new TemplateFault(`message ${index} is no object with a role`);
}

function parseMessages(text: string): Record<string, unknown>[] {
  let messages: unknown;
  try {
    messages = readJsonText(text, jsonBounds.request);
  } catch (error) {
    const { fault, message } = error as JsonError;
    throw new TemplateFault(
      `rendered, it is ${fault === 'malformed' ? `not JSON: ${message}` : message}`,
    );
  }
  checkMessages(messages);
  return messages;
}

function compileValue(value: unknown, depth: number): CompiledValue {
  if (depth > depthMax) throw new TemplateFault(`it is nested deeper than ${depthMax} levels`);
  if (typeof value === 'string')
    return value.includes('{{')
      ? { kind: 'template', template: parseTemplate(value) }
      : { kind: 'constant', value };
  if (Array.isArray(value))
    return { kind: 'list', items: value.map((item) => compileValue(item, depth + 1)) };
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value };
  return {
    kind: 'object',
    fields: Object.entries(value).map(([name, inner]) => [name, compileValue(inner, depth + 1)]),
  };
}

function renderValue(
  compiled: CompiledValue,
  variables: Readonly<Record<string, unknown>>,
  options: RenderOptions,
): unknown {
  switch (compiled.kind) {
    case 'constant':
      return compiled.value;
    case 'template':
      return renderTemplate(compiled.template, variables, options);
    case 'list':
      return compiled.items.map((item) => renderValue(item, variables, options));
    case 'object':
      return Object.fromEntries(
        compiled.fields.map(([name, inner]) => [name, renderValue(inner, variables, options)]),
      );
  }
}

/** As it stands between the quotes of a JSON string. */
function escapeInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
