import * as z from 'zod'
import { named } from '../http/fields'
import { VENDOR_NAMES } from '.'

export const VendorField = named('Vendor', z.enum(VENDOR_NAMES))
