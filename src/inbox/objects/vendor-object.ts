import type { Context } from 'hono'
import type { ObjectKey } from '../../billing/read/store'
import type { Db } from '../../db/client'
import { sendInRoom } from '../../http/answering'
import type { HttpEnv } from '../../http/context'
import { type Body, findSourcePayload, unpacked } from '../payload'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { objectIn } from './object-in'

type Asked = 'vendor_object' | undefined

/** Makes the answer, in room for the payload if `include` asks for what is in it. */
export function inRoomFor<R extends Response>(c: Context<HttpEnv>, include: Asked, make: () => Promise<R>): Promise<R> {
  return include === undefined ? make() : sendInRoom(c, MAX_DELIVERY_BYTES, make)
}

/** The statement that reads what `include` asks for; none if it asks for nothing. */
export function including(db: Db, projectId: string, key: ObjectKey, include: Asked) {
  return include === undefined ? {} : { source: findSourcePayload(db, projectId, key) }
}

/** The field that `include` adds to an object. `source`: the rows of the statement. */
export function included({ vendor, kind, id }: ObjectKey & { vendor: string }, include: Asked, source: unknown) {
  if (include === undefined) return {}
  const [row] = source as readonly (Body & { id: string })[]
  const { text = null } = row ? unpacked(row) : {}
  if (!row || !text) return { vendor_object: null }
  return { vendor_object: objectIn(row.id, vendor, text, { kind, id }) }
}
