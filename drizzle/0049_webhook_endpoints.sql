CREATE TABLE `deliveries` (
	`project_id` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`seq` integer NOT NULL,
	`type` text NOT NULL,
	`state` text NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`attempted_at` integer,
	`status` integer,
	`error` text,
	PRIMARY KEY(`project_id`, `endpoint_id`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`project_id`,`endpoint_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `delivery_runs` (
	`project_id` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`id` text NOT NULL,
	`log` text NOT NULL,
	PRIMARY KEY(`project_id`, `endpoint_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `resends` (
	`project_id` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`id` text NOT NULL,
	`after` integer NOT NULL,
	`until` integer NOT NULL,
	`position` integer NOT NULL,
	`types` text,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`finished_at` integer,
	PRIMARY KEY(`project_id`, `endpoint_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `resends_open` ON `resends` (`project_id`,`endpoint_id`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`url` text NOT NULL,
	`types` text NOT NULL,
	`ordered` integer DEFAULT false NOT NULL,
	`include_object` integer DEFAULT false NOT NULL,
	`relay` text,
	`state` text DEFAULT 'active' NOT NULL,
	`disabled_reason` text,
	`secrets` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`epoch` text NOT NULL,
	`position` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`not_before` integer DEFAULT 0 NOT NULL,
	`at_once` integer DEFAULT 5 NOT NULL,
	`slow` integer DEFAULT false NOT NULL,
	`last_success_at` integer,
	`last_failure_at` integer,
	`woken_at` integer DEFAULT 0 NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "webhook_endpoints_state" CHECK("webhook_endpoints"."state" IN ('active', 'failing', 'disabled'))
) WITHOUT ROWID;
--> statement-breakpoint
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
		'cause', NEW.`id`)))); END;
