import { isObject, type Json, numericId, objects, text } from './lib/json'

/** The id of an object. That of a test notification is too large for a number, but its other id has the same digits. */
export function shopifyId({ id, admin_graphql_api_id: gid }: Json): string | null {
  return numericId(id) ?? /\/(\d{1,30})$/.exec(text(gid) ?? '')?.[1] ?? null
}

/** What the shop, or the buyer, has stored with an order: a list of names and values. */
export function attributesOf({ note_attributes }: Json): Json {
  return Object.fromEntries(
    objects(note_attributes).flatMap(({ name, value }) => (text(name) ? [[name, value ?? null]] : [])),
  )
}

/** The object that an event is about: those of apps are in another one. */
export function shopifyObject(payload: Json): Json {
  const wrapped = payload.app_subscription ?? payload.app_purchase_one_time
  return isObject(wrapped) ? wrapped : payload
}
