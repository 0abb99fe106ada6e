import { type KeyCheckOptions, type KeyNeeds, keyCheck, refusalBody, type VerifiedKey } from './keys.js'

/* Middleware for Hono. It does not need the package. */

export type { KeyCheckOptions, KeyNeeds, VerifiedKey } from './keys.js'

/** The variables of an app whose routes are behind the middleware: `new Hono<{ Variables: CustomerKeyVariables }>()`. */
export type CustomerKeyVariables = { customerKey: VerifiedKey }

type Context = {
  req: { header(name: string): string | undefined }
  set(name: 'customerKey', key: VerifiedKey): void
}
// biome-ignore lint/suspicious/noConfusingVoidType: Hono's own type of a middleware
type Middleware = (context: Context, next: () => Promise<void>) => Promise<Response | void>

/**
 * Makes middleware that lets in only requests with a valid key of a customer, and puts the key into the context as `customerKey`:
 * `app.get('/reports', keys({ require: ['reports:read'] }), (c) => c.json(c.get('customerKey').consumer.id))`. It caches nothing.
 */
export function customerKeys(options: KeyCheckOptions): (needs?: KeyNeeds) => Middleware {
  const check = keyCheck(options)
  return (needs = {}) =>
    async (context, next) => {
      const { key, refusal } = await check(context.req.header('Authorization'), needs)
      if (!key) {
        const headers = { ...refusal.headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
        return new Response(refusalBody(refusal), { status: refusal.status, headers })
      }
      context.set('customerKey', key)
      await next()
    }
}
