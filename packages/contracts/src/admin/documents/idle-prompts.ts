import { type IdleField, isSaid, objectIn, type Shown } from '../kernel/idle-fields.ts';

const sentByCall = 'it acts in the body of a call alone; the provider is sent it as it stands';

/** What of the parameters that a version keeps is no parameter of models. */
const idleParameters: Readonly<Record<string, string>> = {
  stream: 'a saved one is never used: each call says it',
  variables: sentByCall,
  append_messages: sentByCall,
  hyperparameters: sentByCall,
};

/** Of a prompt with one of its versions. */
export function idleOfPrompt(prompt: Shown): readonly IdleField[] {
  const parameters = objectIn(prompt, 'parameters');
  const idle: IdleField[] = Object.entries(idleParameters)
    .filter(([name]) => parameters[name] != null)
    .map(([name, why]) => ({ path: `parameters.${name}`, why }));
  for (const name of ['functions', 'tools', 'tool_choice'])
    if (prompt[name] != null && parameters[name] != null)
      idle.push({
        path: `parameters.${name}`,
        why: `${name} beside the parameters is sent`,
        by: [name],
      });
  const { model } = parameters;
  if (isSaid(model) && isSaid(prompt.model) && model !== prompt.model)
    idle.push({ path: 'model', why: 'parameters.model is asked', by: ['parameters'] });
  const server = providerOf(model ?? prompt.model);
  if (server !== undefined && server !== prompt.virtual_key)
    idle.push({
      path: 'virtual_key',
      why: `the model says that @${server} is asked`,
      by: ['model', 'parameters'],
    });
  const { template_type: type } = objectIn(prompt, 'template_metadata');
  if (prompt.is_raw_template === true && typeof type === 'string' && type !== 'chat')
    idle.push({
      path: 'is_raw_template',
      why: `the template is text by its template_type, ${type.slice(0, 40)}`,
      by: ['template_metadata', 'prompt_metadata'],
    });
  return idle;
}

/** A model says who serves it when it is written `@slug/model`. */
function providerOf(model: unknown): string | undefined {
  return typeof model === 'string' ? /^@([^/]+)\//.exec(model)?.[1] : undefined;
}
