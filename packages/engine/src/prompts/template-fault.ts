/**
 * What is wrong with a template, or with what it is rendered with. The message
 * is for whoever wrote the template or sent the variables.
 */
export class TemplateFault extends Error {}

/** The template is sound; what it includes is not there. */
export class MissingPartials extends TemplateFault {}
