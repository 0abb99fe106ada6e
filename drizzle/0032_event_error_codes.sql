ALTER TABLE `events` ADD `last_error_code` text;
--> statement-breakpoint
-- Only events that have failed: the next attempt at another one records its code.
UPDATE `events` SET `last_error_code` = CASE
	WHEN `last_error` LIKE 'this version does not support the vendor%' THEN 'vendor_unknown'
	WHEN `last_error` LIKE '%no longer kept%' THEN 'payload_gone'
	WHEN `last_error` LIKE 'worker_died%' THEN 'worker_died'
	WHEN `last_error` LIKE '%other workers kept changing%' THEN 'object_busy'
	WHEN `last_error` LIKE '%billing object% too large' THEN 'object_too_large'
	WHEN `last_error` LIKE 'the database rejected its effects%' THEN 'effects_rejected'
	WHEN `last_error` LIKE '%id of its billing object is not valid' THEN 'object_id_invalid'
	WHEN `last_error` LIKE '%payload%' THEN 'payload_invalid'
	ELSE 'internal_error' END
WHERE `last_error` IS NOT NULL AND `status` = 'failed';
