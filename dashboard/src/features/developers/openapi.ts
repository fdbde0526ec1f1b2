// The parts of the OpenAPI document that the pages read, https://spec.openapis.org/oas/v3.1.1.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

interface Answer {
  $ref?: string;
  description?: string;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Answer>;
}

export interface Document {
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
}

export interface Endpoint {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  needs?: string;
  parameters: Parameter[];
  body?: Schema;
  answers: { status: string; description: string }[];
}

/** Return the endpoints of a document, in the order of their paths. */
export function endpointsOf(document: Document): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0] ?? '',
      summary: operation.summary,
      needs: operation.description,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json']?.schema,
      answers: Object.entries(operation.responses).map(([status, answer]) => ({
        status,
        description: answerOf(document, answer).description ?? '',
      })),
    })),
  );
}

function answerOf({ components }: Document, { $ref, ...own }: Answer): Answer {
  return (($ref && components.responses[nameOf($ref)]) || own) as Answer;
}

/** Return a schema with what it refers to. */
export function resolved({ components }: Document, { $ref, ...own }: Schema): Schema {
  return $ref ? { ...components.schemas[nameOf($ref)], ...own } : own;
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** Return the type of a value in words, with its limits. */
export function typeOf(document: Document, given: Schema): string {
  const schema = resolved(document, given);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(String).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map((each) => typeOf(document, each)))].join(' | ');
  if (schema.items) return `list of ${typeOf(document, schema.items)}`;
  return [schema.type ?? 'any'].flat().join(' | ') + limits(schema);
}

function limits({ minimum, maximum, minLength, maxLength }: Schema): string {
  const least = minimum ?? minLength;
  const most = maximum ?? maxLength;
  const unit = maxLength === undefined ? '' : ' characters';
  if (most === undefined) return least === undefined ? '' : `, ${least} or more`;
  return least === undefined ? `, up to ${most}${unit}` : `, ${least} to ${most}${unit}`;
}
