import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import type * as z from 'zod'
import type { Kept } from '../idempotency/claim'
import type { Scope } from '../lib/access'
import type { FaultName } from '../lib/faults'
import type { HttpEnv } from './context'
import type { Policy } from './policy'

/** The metadata of a route: its policy, its documentation, its schemas. */
export type Meta = {
  operation?: Operation
  body?: z.ZodType
  /** The largest body (bytes). */
  bodyBytes?: number
  /** Whether the body may be left out. */
  bodyOptional?: true
  query?: z.ZodType
  page?: PagePolicy
}

/** The sections of the OpenAPI document. */
export const TAGS = {
  'API keys': 'Mint, list, rotate and revoke the API keys of a project.',
  'Audit log': 'Who changed what, and when.',
  Search: 'Find anything in a project by an id, a name or a part of a name.',
  Changes: 'What has changed, in one order, so that your servers can follow.',
  'Billing connections': 'The endpoints that billing vendors send events to, and their signing secrets.',
  'Billing state': 'Subscriptions, invoices and payment methods, derived from webhook events.',
  Catalog: 'What you sell: features, plans, and the prices of your vendors that stand for them.',
  Consumers: 'The end users of the product, under your own ids.',
  Devices: 'Where consumers connect from: registered, limited in number, revoked and verified.',
  Domains: 'DNS names that a project proves to be its own: email domains for single sign-on, and hosts for its pages.',
  Entitlements: 'What a consumer may do now, and grants beside what it pays for.',
  Invitations: 'Invite people to a project; accept and decline invitations.',
  Ingest: 'The endpoint that billing vendors call.',
  Members: 'Who may work in a project, and in which role.',
  Notices: 'What needs attention from the team.',
  Passkeys: 'Passkeys as a second way to sign in and as a second factor, and recovery codes.',
  Projects: 'Every other resource belongs to a project.',
  Service: 'The service itself.',
  Sessions: 'Sign-in codes by email, and console sessions.',
  'Single sign-on': 'OpenID providers that your team and your customers sign in with.',
  'Webhooks out': 'Servers of yours that changes are sent to.',
  'Billing webhooks': 'Recorded events: list, search, replay, health and lag.',
}
export type Tag = keyof typeof TAGS
/**
 * Who may see a console page: anyone; any signed-in user; `account`: not with a session from single sign-on; or a user with
 * this scope in the project of the path.
 */
export type PagePolicy = 'anyone' | 'user' | 'account' | Scope

/**
 * What a route answers, by status. `etag`: whether the response has an `ETag`; `cached`: whether it may be cached. A status
 * without a schema has no body.
 */
export type Responses = Record<number, { description: string; schema?: z.ZodType; etag?: true; cached?: true }>

/** What the middleware of a route says to its handler: what the route answers. */
export type Answering<R extends Responses> = { in: object; out: { responses: R } }

export type Operation<R extends Responses = Responses> = {
  /** The operationId: unique, camelCase. */
  id: string
  summary: string
  description: string
  tag: Tag
  /** Null for a route that takes no credentials. */
  policy: Policy | null
  responses: R
  /** Further faults. Those of credentials, validation and rate limits follow from the policy. */
  faults?: readonly FaultName[]
  /** The media type of a body that is not parsed as JSON. */
  rawBody?: string
  /** Request headers to document: name → description. */
  headers?: Record<string, string>
  /**
   * Of a call that takes Idempotency-Key (`IDEMPOTENT_CALLS`): answers a repeat with what the first request made, as it is now.
   *
   * @throws {Fault} `not_found` if it is no longer there
   */
  repeated?(c: Context<HttpEnv, string, Answering<R>>, kept: Kept): Promise<Response>
}

/** Metadata by middleware function. The tests and the OpenAPI document read it off the route table. */
export const META = new WeakMap<object, Meta>()

/** Attaches metadata to a middleware and returns the middleware unchanged. */
export function remember<T extends object>(middleware: T, meta: Meta): T {
  META.set(middleware, { ...META.get(middleware), ...meta })
  return middleware
}

/** The operation that a request matched; undefined where it matched none, or a page. */
export function matchedOperation(c: Context): Operation | undefined {
  for (const { handler } of matchedRoutes(c)) {
    const operation = META.get(handler)?.operation
    if (operation) return operation
  }
  return undefined
}

/** The route that a request matched; undefined where none did. */
export function matchedRoute(c: Context): { method: string; path: string } | undefined {
  return matchedRoutes(c).find(({ method }) => method !== 'ALL')
}
