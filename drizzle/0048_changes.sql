CREATE TABLE `changes` (
	`project_id` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`items` text NOT NULL,
	PRIMARY KEY(`project_id`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `changes_epoch` (
	`epoch` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `changes_epoch` (`epoch`) VALUES (lower(hex(randomblob(4))));
--> statement-breakpoint
CREATE TRIGGER `audit_log_told` AFTER INSERT ON `audit_log`
WHEN NEW.`object_type` IN ('api_key', 'connection', 'consumer', 'customer', 'device', 'entitlement_key', 'event', 'feature', 'grant', 'import', 'plan', 'project', 'replay')
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
		'cause', NEW.`id`)))); END;
--> statement-breakpoint
CREATE TRIGGER `consumers_created` AFTER INSERT ON `consumers`
WHEN NEW.`state` = 'active'
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'consumer.created', 'id', NEW.`id`, 'revision', NEW.`revision`, 'consumer_id', NEW.`id`)))); END;
--> statement-breakpoint
CREATE TRIGGER `consumers_updated` AFTER UPDATE OF `email`, `name`, `metadata` ON `consumers`
WHEN OLD.`state` = NEW.`state` AND (OLD.`email` IS NOT NEW.`email` OR OLD.`name` IS NOT NEW.`name` OR OLD.`metadata` <> NEW.`metadata`)
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'consumer.updated', 'id', NEW.`id`, 'revision', NEW.`revision`, 'consumer_id', NEW.`id`,
		'fields', (SELECT json_group_array(`field`) FROM (SELECT 'email' AS `field` WHERE OLD.`email` IS NOT NEW.`email`
			UNION ALL SELECT 'name' WHERE OLD.`name` IS NOT NEW.`name` UNION ALL SELECT 'metadata' WHERE OLD.`metadata` <> NEW.`metadata`)))))); END;
--> statement-breakpoint
CREATE TRIGGER `consumers_erased` AFTER UPDATE OF `state` ON `consumers`
WHEN OLD.`state` = 'merged' AND NEW.`state` = 'erased'
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'consumer.erased', 'id', NEW.`id`, 'revision', NEW.`revision`, 'consumer_id', NEW.`id`)))); END;
--> statement-breakpoint
CREATE TRIGGER `consumer_ids_named` AFTER INSERT ON `consumer_ids`
WHEN EXISTS (SELECT 1 FROM `consumers` WHERE `project_id` = NEW.`project_id` AND `id` = NEW.`consumer_id`)
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'consumer.named', 'id', NEW.`consumer_id`, 'consumer_id', NEW.`consumer_id`, 'fields', json_array('external_ids'),
		'revision', (SELECT `revision` FROM `consumers` WHERE `project_id` = NEW.`project_id` AND `id` = NEW.`consumer_id`))))); END;
--> statement-breakpoint
CREATE TRIGGER `customer_links_made` AFTER INSERT ON `customer_links`
WHEN coalesce(NEW.`pinned`, NEW.`ref`) IS NOT NULL
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'customer.linked', 'id', NEW.`customer`, 'vendor', NEW.`vendor`, 'customer', NEW.`customer`,
		'consumer_id', CASE WHEN NEW.`pinned` IS NULL THEN (SELECT `consumer_id` FROM `consumer_ids` WHERE `project_id` = NEW.`project_id` AND `external_id` = NEW.`ref`)
		WHEN NEW.`pinned` GLOB 'csm_*' THEN NEW.`pinned` END,
		'cause', iif(NEW.`pinned` IS NULL, substr(CASE WHEN NEW.`said` IS NULL THEN NEW.`hint_rank` ELSE NEW.`said_rank` END, -30), NULL))))); END;
--> statement-breakpoint
CREATE TRIGGER `customer_links_changed` AFTER UPDATE OF `said`, `hint`, `pinned` ON `customer_links`
WHEN OLD.`pinned` IS NOT NEW.`pinned` OR OLD.`ref` IS NOT NEW.`ref`
BEGIN INSERT INTO `changes` (`project_id`, `seq`, `at`, `items`)
	VALUES (NEW.`project_id`, coalesce((SELECT max(`seq`) FROM `changes` WHERE `project_id` = NEW.`project_id`), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
	json_array(json_patch('{}', json_object('type', 'customer.linked', 'id', NEW.`customer`, 'vendor', NEW.`vendor`, 'customer', NEW.`customer`,
		'consumer_id', CASE WHEN NEW.`pinned` IS NULL THEN (SELECT `consumer_id` FROM `consumer_ids` WHERE `project_id` = NEW.`project_id` AND `external_id` = NEW.`ref`)
		WHEN NEW.`pinned` GLOB 'csm_*' THEN NEW.`pinned` END,
		'former', CASE WHEN coalesce(OLD.`pinned`, OLD.`ref`, '') <> '' THEN json_object('consumer_id', CASE WHEN OLD.`pinned` IS NULL THEN (SELECT `consumer_id` FROM `consumer_ids` WHERE `project_id` = OLD.`project_id` AND `external_id` = OLD.`ref`)
		WHEN OLD.`pinned` GLOB 'csm_*' THEN OLD.`pinned` END) END,
		'cause', iif(NEW.`pinned` IS NULL AND OLD.`pinned` IS NULL, substr(CASE WHEN NEW.`said` IS NULL THEN NEW.`hint_rank` ELSE NEW.`said_rank` END, -30), NULL))))); END;
