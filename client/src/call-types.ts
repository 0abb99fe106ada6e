import type { FetchResponse } from 'openapi-fetch'
import type { operations } from './schema.js'

/** The parameters of an operation in one place, such as its path. */
type In<Op, Place extends string> = Op extends { parameters: { [P in Place]?: infer Values } }
  ? [NonNullable<Values>] extends [never]
    ? unknown
    : NonNullable<Values>
  : unknown

type Body<Op> = Op extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : Op extends { requestBody?: { content: infer Content } }
    ? { body?: Content[keyof Content] }
    : unknown

/** What a method takes: the parameters of path and query by their names, and the body as `body`. */
export type Given<Op> = In<Op, 'path'> & In<Op, 'query'> & Body<Op>

export type CallOptions<Op = unknown> = {
  /** Ends the call, and any wait between its attempts. */
  signal?: AbortSignal
  /** For example `Idempotency-Key` or `If-Match`. */
  headers?: In<Op, 'header'> & Record<string, string>
}

/** The body of a response; undefined where a success has none. */
export type Answer<Op> = Op extends { responses: infer Responses }
  ?
      | NonNullable<FetchResponse<Op & Record<string, unknown>, unknown, `${string}/${string}`>['data']>
      | (204 extends keyof Responses ? undefined : never)
  : never

type Args<Op> = [options?: CallOptions<Op>]
/** A method that makes one call. It rejects with PlatformError if the API refuses the call. */
export type Call<Id extends keyof operations> =
  Record<never, never> extends Given<operations[Id]>
    ? (given?: Given<operations[Id]>, ...options: Args<operations[Id]>) => Promise<Answer<operations[Id]>>
    : (given: Given<operations[Id]>, ...options: Args<operations[Id]>) => Promise<Answer<operations[Id]>>
