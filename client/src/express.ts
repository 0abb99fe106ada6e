import { type KeyCheckOptions, type KeyNeeds, keyCheck, refusalBody, type VerifiedKey } from './keys.js'

/* Middleware for Express 4 and 5, and for anything else that has requests and responses of Node.js. It needs neither package. */

export type { KeyCheckOptions, KeyNeeds, VerifiedKey } from './keys.js'

type Request = { headers: { authorization?: string | undefined }; customerKey?: VerifiedKey }
type Response = {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}
type Middleware = (request: Request, response: Response, next: () => void) => Promise<void>

declare global {
  namespace Express {
    interface Request {
      /** The customer's key, behind the middleware of `customerKeys`. */
      customerKey?: VerifiedKey
    }
  }
}

/**
 * Makes middleware that lets in only requests with a valid key of a customer, and puts the key on the request as `customerKey`:
 * `app.get('/reports', keys({ require: ['reports:read'] }), handler)`. It caches nothing.
 */
export function customerKeys(options: KeyCheckOptions): (needs?: KeyNeeds) => Middleware {
  const check = keyCheck(options)
  return (needs = {}) =>
    async (request, response, next) => {
      const { key, refusal } = await check(request.headers.authorization, needs)
      if (key) {
        request.customerKey = key
        return next()
      }
      response.statusCode = refusal.status
      for (const [name, value] of Object.entries({ ...refusal.headers, ...ALWAYS })) response.setHeader(name, value)
      response.end(refusalBody(refusal))
    }
}

const ALWAYS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
