import type { Context, TypedResponse } from 'hono'
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status'
import type * as z from 'zod'
import type { HttpEnv } from './context'
import { etagOf } from './etag'
import type { Answering, Responses } from './meta'

/** What the schema of a response describes; null for a response without a body. */
type BodyOf<R extends Responses[number]> = 'schema' extends keyof R ? z.output<NonNullable<R['schema']>> : null

/**
 * A body that fits every status in `S`, because a handler may choose the status as it runs. Of a handler that is behind no
 * route nothing is known, so nothing fits.
 */
type Body<R extends Responses, S extends keyof R & number> = number extends keyof R
  ? never
  : { [Status in S]: (body: BodyOf<R[Status]>) => void }[S] extends (body: infer B) => void
    ? B
    : never

/**
 * Answers with a status that the route declares, and a body that its schema describes. Another status, a missing field and
 * a field of another type do not compile.
 *
 * @param body null for a response without a body
 */
export function answer<R extends Responses, S extends keyof R & StatusCode>(
  c: Context<HttpEnv, string, Answering<R>>,
  body: Body<R, S>,
  status: S,
): Response & TypedResponse<BodyOf<R[S]>, S, 'json'> {
  const sent = body === null ? c.body(null, status) : c.json<unknown>(body, status as ContentfulStatusCode)
  return sent as Response & TypedResponse<BodyOf<R[S]>, S, 'json'>
}

/** The response of a route that answers with an object and its `ETag`: see {@link tagged}. */
export const taggedWith = <S extends z.ZodType>(schema: S, description: string) =>
  ({ description, schema, etag: true }) as const

/** What is shown of an object. Sets its revision as the `ETag` of the response. */
export function tagged<T>(c: Context<HttpEnv>, { revision }: { revision: number }, shown: T): T {
  c.header('ETag', etagOf(revision))
  return shown
}
