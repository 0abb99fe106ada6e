import * as z from 'zod'
import { visibleText } from '../http/fields'
import { MAX_NAME } from './limits'

export const ProjectBody = z.strictObject({ name: visibleText(MAX_NAME) }).meta({ id: 'ProjectName' })
