import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyOptions, jwtVerify } from 'jose'
import type * as z from 'zod'
import type { EntitlementToken } from '../../src/entitlements/fields'
import type { TokenKeysShown } from '../../src/token-keys/fields'
import { call, ORIGIN, type RequestOptions } from '../harness'
import { type EntitlementWorld, entitlementWorld, sellPlans } from './world'

/** A world with plans and the consumer `ada`, and the calls about tokens and their keys. */
export async function tokenWorld() {
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
  return { ...world, ...tokensOf(world) }
}
export type TokenWorld = Awaited<ReturnType<typeof tokenWorld>>

function tokensOf({ ask, project, owner }: EntitlementWorld) {
  const jwks = (options?: RequestOptions) => call<JSONWebKeySet>(`/p/${project}/jwks.json`, options)
  return {
    jwks,
    kids: async () => (await jwks()).body.keys.map(({ kid }) => kid),
    issue: (json: object = {}, consumer = 'ext:ada', options?: RequestOptions) =>
      ask<z.infer<typeof EntitlementToken>>('POST', `/consumers/${consumer}/entitlements/token`, { json, ...options }),
    rotate: async (json: object = {}, options?: RequestOptions) =>
      ask<z.infer<typeof TokenKeysShown>>('POST', '/billing/entitlement-keys/rotate', {
        json,
        token: owner.token,
        ...options,
      }),
    /** Verifies a token with the keys that are published now, or with earlier ones. */
    verify: async (token: string, options: JWTVerifyOptions = {}, keys?: JSONWebKeySet) =>
      jwtVerify(token, createLocalJWKSet(keys ?? (await jwks()).body), {
        issuer: `${ORIGIN}/p/${project}`,
        audience: project,
        typ: 'entitlements+jwt',
        ...options,
      }),
  }
}
