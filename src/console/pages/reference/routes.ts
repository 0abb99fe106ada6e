import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page } from '../../page'
import { referencePage } from './reference'

/** The API reference: a viewer over /openapi.json, for any signed-in user. */
export const referencePages = new Hono<HttpEnv>()
  .get('/reference', page('user'), referencePage)
  .get('/p/:project/reference', page('projects:read'), referencePage)
