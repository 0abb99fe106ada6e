ALTER TABLE `api_keys` ADD `pending_hash` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `pending` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous` text;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_pending` ON `api_keys` (`pending_hash`) WHERE pending_hash IS NOT NULL;--> statement-breakpoint
DROP TRIGGER `audit_log_told`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_told` AFTER INSERT ON `audit_log`
WHEN NEW.`object_type` IN ('api_key', 'connection', 'consumer', 'customer', 'device', 'entitlement_key', 'event', 'feature', 'grant', 'import', 'plan', 'project', 'replay', 'webhook_endpoint')
	AND NOT (NEW.`action` = 'project.settings_changed' AND EXISTS (SELECT 1 FROM json_each(NEW.`details`) WHERE `key` IN ('require_passkey', 'trusted_connections')))
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', NEW.`action`, 'object', NEW.`object_type`, 'id', NEW.`object_id`, 'vendor', NEW.`details` ->> 'vendor',
		'customer', iif(NEW.`object_type` = 'customer', NEW.`object_id`, NULL),
		'consumer_id', coalesce(NEW.`details` ->> 'consumer', NEW.`details` ->> 'into', iif(NEW.`object_type` = 'consumer', NEW.`object_id`, NULL)),
		'former', iif(NEW.`action` = 'consumer.merged', json_object('consumer_id', NEW.`object_id`), NULL),
		'fields', iif(NEW.`action` LIKE '%.updated' OR NEW.`action` = 'project.settings_changed',
			CASE json_type(NEW.`details`, '$.fields') WHEN 'array' THEN NEW.`details` -> 'fields'
			ELSE (SELECT json_group_array(`key`) FROM json_each(NEW.`details`)) END, NULL),
		'begun_by', iif(NEW.`object_type` = 'api_key', NEW.`details` ->> 'begun_by', NULL), 'cause', NEW.`id`)))); END;
