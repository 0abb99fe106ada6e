import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page } from '../../page'
import { referencePage } from './reference'

/** The API reference: a viewer for /openapi.json. Any signed-in user can read it. */
export const referencePages = new Hono<HttpEnv>()
  .get('/reference', page('user'), referencePage)
  .get('/p/:project/reference', page('projects:read'), referencePage)
