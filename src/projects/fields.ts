import * as z from 'zod'
import { named, visibleText } from '../http/fields'
import { MAX_NAME } from './limits'

export const ProjectBody = named('ProjectName', z.strictObject({ name: visibleText(MAX_NAME) }), { name: 'Acme' })
